"""The user data of a node as a program: it runs, with AWS and the metadata service faked."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.constructs.node_start import (
    SCRIPT,
    VALUES,
    EventNames,
    LustreMount,
    NodeValues,
    SharedMount,
    render,
)
from stacks.constructs.source_archive import SourceArchive

TOLD = NodeValues(
    cluster="vision",
    role="worker",
    region="eu-central-1",
    stack="ClusterStack",
    resource="WorkerGroup1",
    head_group="vision-head",
    worker_group="vision-workers",
    efs=SharedMount(id="fs-1", dns="fs-1.efs.eu-central-1.amazonaws.com", iam=False),
    fsx=LustreMount(id="fs-2", dns="fs-2.fsx.eu-central-1.amazonaws.com", mount_name="abcdefgh"),
    key_secret_arn="arn:aws:secretsmanager:eu-central-1:123456789012:secret:keys-AbCdEf",
    log_group="ClusterStack-Log",
    runs_in="image",
    environment=None,
    elastic_ip_allocation=None,
    setup_minutes=30,
    events=EventNames(source="distributed-mask-rcnn", detail_type="Training Job State Change"),
)

SETUP = 'printf "set up by %s\\n" "$0"; exit 7\n'

FAKE_AWS = """#!/bin/bash
printf '%s\\n' "$*" >>"$PLACE/calls"
if [[ "$1 $2" == "s3api get-object" ]]; then
    [[ ! -e "$PLACE/refused" ]] || { rm "$PLACE/refused"; exit 254; }
    cp "$PLACE/source.zip" "${!#}"
fi
"""
FAKE_CURL = """#!/bin/bash
[[ "$*" == *"-X PUT"*api/token* ]] && { printf token; exit; }
[[ "$*" == *"aws-ec2-metadata-token: token"*meta-data/instance-id ]] && printf i-0123456789abcdef0
"""


@dataclass(frozen=True)
class Boot:
    """What a boot left."""

    code: int
    output: str
    errors: str
    calls: list[str]
    config: dict[str, Any] | None


@dataclass
class Machine:
    """A folder in which the script finds its programs and leaves its files."""

    folder: Path
    sha256: str

    def boot(self, values: NodeValues = TOLD, *, python: str | None = None) -> Boot:
        script = render(values, self._programs())
        for path in ("/opt/mask-rcnn", "/etc/mask-rcnn"):
            script = script.replace(path, f"{self.folder}{path}")
        if python:
            script = script.replace("python3 python3.12 python3.11 python3.10 python3.9", python)
        (self.folder / "calls").touch()
        done = subprocess.run(
            ["bash", "-c", script],
            env={
                "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                "PLACE": str(self.folder),
                "TMPDIR": str(self.folder),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        config = self.folder / "etc/mask-rcnn/node.json"
        return Boot(
            code=done.returncode,
            output=done.stdout,
            errors=done.stderr,
            calls=(self.folder / "calls").read_text().splitlines(),
            config=json.loads(config.read_text()) if config.exists() else None,
        )

    def _programs(self) -> SourceArchive:
        known = SimpleNamespace(bucket_name="assets", object_key="programs.zip", sha256=self.sha256)
        return cast(SourceArchive, known)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    with zipfile.ZipFile(tmp_path / "source.zip", "w") as archive:
        archive.writestr("node/setup.sh", SETUP)
    (tmp_path / "bin").mkdir()
    for name, text in (("aws", FAKE_AWS), ("curl", FAKE_CURL), ("sleep", "#!/bin/bash\n")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    digest = hashlib.sha256((tmp_path / "source.zip").read_bytes()).hexdigest()
    return Machine(tmp_path, digest)


SIGNAL = (
    "cloudformation signal-resource --region eu-central-1 --stack-name ClusterStack "
    "--logical-resource-id WorkerGroup1 --unique-id i-0123456789abcdef0 --status FAILURE"
)


def test_shellcheck_finds_nothing() -> None:
    script = render(TOLD, Machine(Path("/nowhere"), "0" * 64)._programs())
    done = subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), "--shell=bash", "-"],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""


def test_lines_end_as_linux_wants_them() -> None:
    content = SCRIPT.read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert content.count(VALUES.encode()) == 1


def test_a_node_knows_its_place_and_hands_over_to_its_set_up(machine: Machine) -> None:
    boot = machine.boot()
    assert boot.code == 7
    assert boot.output == f"set up by {machine.folder}/opt/mask-rcnn/node/setup.sh\n"
    assert boot.config == {
        "cluster": "vision",
        "role": "worker",
        "region": "eu-central-1",
        "stack": "ClusterStack",
        "resource": "WorkerGroup1",
        "head_group": "vision-head",
        "worker_group": "vision-workers",
        "efs": {
            "id": "fs-1",
            "dns": "fs-1.efs.eu-central-1.amazonaws.com",
            "iam": False,
            "mount": "/efs",
        },
        "fsx": {
            "id": "fs-2",
            "dns": "fs-2.fsx.eu-central-1.amazonaws.com",
            "mount_name": "abcdefgh",
            "mount": "/fsx",
        },
        "key_secret_arn": TOLD.key_secret_arn,
        "log_group": "ClusterStack-Log",
        "runs_in": "image",
        "environment": None,
        "elastic_ip_allocation": None,
        "setup_minutes": 30,
        "events": {
            "source": "distributed-mask-rcnn",
            "detail_type": "Training Job State Change",
        },
    }
    # From here on, the set-up tells how it went.
    [fetching] = boot.calls
    assert fetching.startswith(
        "s3api get-object --region eu-central-1 --bucket assets --key programs.zip "
    )


def test_a_boot_after_the_first_finds_the_same(machine: Machine) -> None:
    machine.boot()
    assert machine.boot().code == 7


def test_programs_other_than_those_deployed_are_not_run_and_the_stack_learns_it(
    machine: Machine,
) -> None:
    boot = replace(machine, sha256="0" * 64).boot()
    assert boot.code == 1
    assert boot.output == ""
    assert "s3://assets/programs.zip is not what the stack was deployed with" in boot.errors
    assert boot.calls[-1] == SIGNAL
    assert not (machine.folder / "opt").exists()


def test_programs_that_come_late_are_waited_for(machine: Machine) -> None:
    (machine.folder / "refused").touch()
    boot = machine.boot()
    assert boot.code == 7
    assert "attempt 1 to fetch s3://assets/programs.zip failed" in boot.errors


def test_programs_that_never_come_are_told_to_the_stack(machine: Machine) -> None:
    (machine.folder / "source.zip").unlink()
    boot = machine.boot()
    assert boot.code == 1
    assert "s3://assets/programs.zip cannot be fetched" in boot.errors
    assert len(boot.calls) == 6
    assert boot.calls[-1] == SIGNAL


def test_an_ami_without_a_python_of_today_is_told_to_the_stack(machine: Machine) -> None:
    boot = machine.boot(python="python2.7 false")
    assert boot.code == 1
    assert "no Python of 3.9 or newer in this AMI" in boot.errors
    assert boot.calls == [SIGNAL]


@given(text=st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=40))
def test_no_value_is_ever_run(text: str) -> None:
    """Whatever a name were to hold, it arrives as it is."""
    script = render(replace(TOLD, cluster=text), Machine(Path("/nowhere"), "0")._programs())
    assignments = script.partition("umask 022\n")[2].partition("readonly HOME_OF_NODE")[0]
    done = subprocess.run(
        ["bash", "-c", f'{assignments}printf %s "$NODE_JSON"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["cluster"] == text
