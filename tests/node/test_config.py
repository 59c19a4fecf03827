"""What user data says about a node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node import config
from node.errors import NodeError
from tests.node.setup.host import CONFIG, PROJECT


def load(folder: Path, **changes: Any) -> config.NodeConfig:
    file = folder / "node.json"
    file.write_text(json.dumps({**CONFIG, **changes}))
    return config.load(file)


def test_it_reads_what_user_data_writes(tmp_path: Path) -> None:
    node = load(tmp_path, elastic_ip_allocation="eipalloc-1", setup_minutes=30)
    assert node.nodes == Path("/efs/mask-rcnn/clusters/vision/nodes")
    assert (node.role, node.elastic_ip_allocation, node.setup_minutes) == ("head", "eipalloc-1", 30)
    assert node.efs == config.Efs("fs-1", "/efs", "fs-1.efs.eu-central-1.amazonaws.com")
    assert node.fsx is None
    assert node.environment == ""


def test_it_reads_fsx(tmp_path: Path) -> None:
    fsx = {"id": "fs-2", "dns": "d", "mount_name": "abc", "mount": "/fsx"}
    assert load(tmp_path, fsx=fsx).fsx == config.Fsx("fs-2", "d", "abc", "/fsx")


def test_it_reads_whom_it_tells_and_by_default_nobody(tmp_path: Path) -> None:
    names = {"source": "distributed-mask-rcnn", "detail_type": "Training Job State Change"}
    assert load(tmp_path, events=names).events == config.Events(**names)
    assert load(tmp_path, events=None).events is None
    assert load(tmp_path).events is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"events": {"source": "a"}}, "events.detail_type: is null, wanted a text"),
        ({"role": "boss"}, 'role: is "boss", wanted head or worker'),
        ({"cluster": "../other"}, 'cluster: is "../other", wanted letters, digits'),
        ({"setup_minutes": True}, "setup_minutes: is true, wanted minutes, 0.1 to 720"),
        ({"setup_minutes": 0}, "setup_minutes: is 0, wanted minutes"),
        ({"efs": None}, "efs: is null, wanted an object"),
        ({"efs": {"id": "fs-1", "mount": "efs"}}, 'efs.mount: is "efs", wanted a path'),
        ({"region": ""}, 'region: is "", wanted a text'),
        ({"stack": "a\0b"}, "stack: is"),
    ],
)
def test_a_wrong_value_is_named_with_its_key(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(NodeError) as error:
        load(tmp_path, **changes)
    assert str(error.value).startswith(f"{tmp_path / 'node.json'}: {message}")


def test_no_file_and_no_json_are_said(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match="cannot be read"):
        config.load(tmp_path / "none.json")
    (tmp_path / "half.json").write_text('{"cluster":')
    with pytest.raises(NodeError, match="is no JSON"):
        config.load(tmp_path / "half.json")


texts = st.text(
    st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1, max_size=50
)


@given(value=texts)
def test_the_shell_gets_each_value_as_it_is(
    value: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Read as setup.sh reads it: no value is ever run."""
    node = load(tmp_path_factory.mktemp("config"), stack=value)
    variables = config.shell_variables(node)
    content = "".join(f"{name}={one}\0" for name, one in variables.items())
    read = 'while IFS= read -r -d "" pair; do export "${pair?}"; done; printf %s "$NODE_STACK"'
    done = subprocess.run(
        ["/bin/bash", "-c", read],
        input=content.encode(),
        env={"PATH": "/nowhere", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == value


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "node.config"],
        cwd=PROJECT,
        env={"MASK_RCNN_NODE_CONFIG": str(tmp_path / "none.json")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert (
        done.stderr == f"ERROR: {tmp_path}/none.json: cannot be read (No such file or directory)\n"
    )
    assert done.stdout == ""
