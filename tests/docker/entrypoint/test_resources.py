"""resourceconfig.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from entrypoint.errors import EntrypointError
from entrypoint.resources import Resources, read_resources
from hypothesis import given
from hypothesis import strategies as st

SAGEMAKERS = {
    "current_host": "algo-2",
    "current_instance_type": "ml.p4d.24xlarge",
    "current_group_name": "homogeneousCluster",
    "hosts": ["algo-1", "algo-10", "algo-2"],
    "instance_groups": [],
    "network_interface_name": "eth0",
    "topology": None,
}


def write(folder: Path, document: Any) -> str:
    path = folder / "resourceconfig.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def test_hosts_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    assert read_resources(write(tmp_path, SAGEMAKERS)) == Resources(
        hosts=["algo-1", "algo-2", "algo-10"],
        current_host="algo-2",
        network_interface="eth0",
        instance_type="ml.p4d.24xlarge",
    )


def test_what_local_mode_leaves_out_may_be_missing(tmp_path: Path) -> None:
    document = {"current_host": "a", "hosts": ["a"]}
    assert read_resources(write(tmp_path, document)) == Resources(["a"], "a", None, None)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{", "is not JSON"),
        ([], "holds a list; expected an object"),
        ({}, "hosts: None; expected a list of host names"),
        ({"hosts": []}, "hosts: []; expected a list of host names"),
        ({"hosts": ["a b"]}, "hosts: 'a b' is no host name"),
        ({"hosts": ["-oProxyCommand=x"]}, "hosts: '-oProxyCommand=x' is no host name"),
        ({"hosts": ["a", "a"]}, "hosts: a name is there twice: a, a"),
        ({"hosts": ["a"], "current_host": "b"}, "current_host: 'b' is not one of hosts, a"),
        (
            {"hosts": ["a"], "current_host": "a", "network_interface_name": "eth0;x"},
            "network_interface_name: 'eth0;x' is no such name",
        ),
        (
            {"hosts": ["a"], "current_host": "a", "current_instance_type": "$(x)"},
            "current_instance_type: '$(x)' is no such name",
        ),
    ],
)
def test_a_broken_file_is_one_message_with_its_place(
    tmp_path: Path, document: Any, words: str
) -> None:
    path = write(tmp_path, document)
    with pytest.raises(EntrypointError) as caught:
        read_resources(path)
    assert str(caught.value).startswith(f"{path}: {words}")


def test_a_missing_file_says_who_writes_it(tmp_path: Path) -> None:
    with pytest.raises(EntrypointError, match=r"cannot be read .*SageMaker writes it"):
        read_resources(str(tmp_path / "resourceconfig.json"))


@given(host=st.text(max_size=40))
def test_no_host_name_holds_what_a_shell_or_ssh_would_read(
    tmp_path_factory: pytest.TempPathFactory, host: str
) -> None:
    path = write(tmp_path_factory.getbasetemp(), {"hosts": [host], "current_host": host})
    try:
        resources = read_resources(path)
    except EntrypointError:
        return
    assert all(character.isalnum() or character in ".-" for character in resources.hosts[0])
    assert resources.hosts[0].isascii()
    assert not resources.hosts[0].startswith("-")
