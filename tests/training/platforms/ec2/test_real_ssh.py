"""Asking the head node over SSH, with OpenSSH's own client and server."""

from __future__ import annotations

import base64
import getpass
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.training.platforms.ec2.planning import CLUSTER
from training.outputs import ClusterOutputs
from training.platforms.ec2.answer import HeadAway
from training.platforms.ec2.head import Head, head_of
from training.platforms.ec2.options import Ec2Options

ADDRESS = "127.0.0.1"

# What a shell would make of the command, and what came on stdin.
PROGRAM = """
import json, os, sys
print(json.dumps({"command": os.environ["SSH_ORIGINAL_COMMAND"], "stdin": sys.stdin.read()}))
"""


@dataclass(frozen=True)
class Server:
    """A server that runs `PROGRAM` whatever it is asked for."""

    folder: Path
    port: int

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    def trust(self, key: str) -> None:
        """Let the client know a key of the server."""
        kind, text, *_ = (self.folder / f"{key}.pub").read_text().split()
        self.known_hosts.write_text(f"[{ADDRESS}]:{self.port} {kind} {text}\n")

    def head(self, key: str = "user") -> Head:
        options = Ec2Options(access="ssh", ssh_user=getpass.getuser(), ssh_key=self.folder / key)
        outputs = {**CLUSTER, "HeadAddress": ADDRESS}
        return head_of(ClusterOutputs.from_outputs(outputs, source="x"), options, attempts=1)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    ssh = shutil.which("ssh")
    assert sshd is not None
    assert ssh is not None
    for name in ("host", "other", "user", "stranger"):
        make = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name))
        subprocess.run(make, check=True)
    (tmp_path / "authorized_keys").write_text((tmp_path / "user.pub").read_text())
    (tmp_path / "program.py").write_text(PROGRAM)
    with socket.create_server((ADDRESS, 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "sshd_config").write_text(
        f"ListenAddress {ADDRESS}:{port}\nHostKey {tmp_path}/host\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {tmp_path}/authorized_keys\nStrictModes no\n"
        f"PasswordAuthentication no\nForceCommand {sys.executable} {tmp_path}/program.py\n"
    )
    # On an instance it is port 22, and the user's own file of known hosts.
    client = tmp_path / "bin" / "ssh"
    client.parent.mkdir()
    client.write_text(
        f"#!/bin/sh\nexec {ssh} -F none -p {port} -o UserKnownHostsFile={tmp_path}/known_hosts "
        f'-o GlobalKnownHostsFile=none "$@"\n'
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    process = subprocess.Popen(
        [sshd, "-D", "-e", "-f", str(tmp_path / "sshd_config")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(port, process)
        yield Server(tmp_path, port)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection((ADDRESS, port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("sshd does not start")


def test_a_head_whose_key_is_known_answers(server: Server) -> None:
    server.trust("host")
    answer = server.head().ask("list", {"limit": 1, "word": "'; touch /tmp/x; $(id)"})
    assert answer["command"] == "sudo -n /opt/mask-rcnn/bin/mask-rcnn-node list -"
    sent = json.loads(base64.b64decode(answer["stdin"], validate=True))
    assert sent == {"limit": 1, "word": "'; touch /tmp/x; $(id)"}


def test_a_key_that_nobody_has_looked_at_is_refused_and_not_noted(server: Server) -> None:
    with pytest.raises(HeadAway, match=r"ssh does not know the key of 127\.0\.0\.1"):
        server.head().ask("list", {"limit": 1})
    assert not server.known_hosts.exists()


def test_a_key_that_has_changed_is_refused(server: Server) -> None:
    server.trust("other")
    with pytest.raises(HeadAway, match=r"ssh-keygen -R 127\.0\.0\.1"):
        server.head().ask("list", {"limit": 1})


def test_a_stranger_is_told_what_to_check(server: Server) -> None:
    server.trust("host")
    with pytest.raises(HeadAway, match=r"Check ec2\.ssh_user and ec2\.ssh_key"):
        server.head("stranger").ask("list", {"limit": 1})
