"""Asking the head node over SSH, with a program in the place of ssh that notes what it is given."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import pytest

from tests.training.platforms.ec2.planning import CLUSTER
from training.errors import UsageError
from training.outputs import ClusterOutputs
from training.platforms.ec2.answer import ClusterBusy, HeadAway, HeadClosed
from training.platforms.ec2.head import Head, head_of
from training.platforms.ec2.options import Ec2Options

OUTPUTS = ClusterOutputs.from_outputs(
    {**CLUSTER, "HeadAddress": "203.0.113.7"}, source="outputs.json"
)


@pytest.fixture
def head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Head:
    program = tmp_path / "ssh"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, sys\n"
        "here = pathlib.Path(__file__).parent\n"
        "given = {'argv': sys.argv[1:], 'stdin': sys.stdin.read()}\n"
        "(here / 'given.json').write_text(json.dumps(given))\n"
        "reply = json.loads((here / 'reply.json').read_text())\n"
        "sys.stdout.write(reply['stdout']); sys.stderr.write(reply['stderr'])\n"
        "sys.exit(reply['code'])\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return head_of(OUTPUTS, Ec2Options(access="ssh"), attempts=1)


def reply(folder: Path, *, stdout: str = "", stderr: str = "", code: int = 0) -> None:
    document = {"stdout": stdout, "stderr": stderr, "code": code}
    (folder / "reply.json").write_text(json.dumps(document))


def test_the_request_goes_in_on_stdin_and_the_answer_comes_back(head: Head, tmp_path: Path) -> None:
    reply(tmp_path, stdout='{"jobs": []}\n', stderr="Warning: added to the list of known hosts\n")
    assert head.ask("list", {"limit": 3, "word": "$(id)"}) == {"jobs": []}
    given = json.loads((tmp_path / "given.json").read_text())
    assert given["argv"][-6:] == [
        "ec2-user@203.0.113.7",
        *("sudo", "-n", "/opt/mask-rcnn/bin/mask-rcnn-node", "list", "-"),
    ]
    assert "$(id)" not in " ".join(given["argv"])
    assert json.loads(base64.b64decode(given["stdin"])) == {"limit": 3, "word": "$(id)"}


def test_a_refusal_is_the_programs_own(head: Head, tmp_path: Path) -> None:
    answer = {"error": {"kind": "busy", "message": "job-0 runs"}}
    reply(tmp_path, stdout=json.dumps(answer), code=1)
    with pytest.raises(ClusterBusy, match=r"job-0 runs\. To look at the cluster's jobs: python"):
        head.ask("submit", {"name": "job-1"})


@pytest.mark.parametrize(
    ("stderr", "error", "said"),
    [
        (
            "No ED25519 host key is known for 203.0.113.7\nHost key verification failed.\n",
            HeadClosed,
            "Host key verification failed. ssh does not know the key of 203.0.113.7",
        ),
        (
            "ec2-user@203.0.113.7: Permission denied (publickey).\n",
            HeadClosed,
            "Permission denied (publickey). Check ec2.ssh_user and ec2.ssh_key, and whether "
            "the agent has the key (ssh-add)",
        ),
        (
            "ssh: connect to host 203.0.113.7 port 22: Connection timed out\n",
            HeadAway,
            "cannot be reached over SSH: ssh: connect to host 203.0.113.7 port 22: Connection",
        ),
        ("", HeadAway, "ec2-user@203.0.113.7 cannot be reached over SSH: ssh says nothing"),
    ],
)
def test_what_ssh_itself_says_is_passed_on_with_what_to_do(
    head: Head, tmp_path: Path, stderr: str, error: type[HeadAway], said: str
) -> None:
    reply(tmp_path, stderr=stderr, code=255)
    with pytest.raises(HeadAway) as away:
        head.ask("list", {"limit": 1})
    assert said in str(away.value)
    assert type(away.value) is error


def test_a_machine_without_ssh_is_told(
    head: Head, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="this machine has no program ssh"):
        head.ask("list", {"limit": 1})
