"""Nodes on this machine: network namespaces, each with an sshd of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from node.health.mounts import Mount
from node.health.ssh import Ssh
from node.health.survey import Host
from node.health.wanted import Wanted
from tests.docker.entrypoint.cluster import Cluster, run

ROOT = Path(__file__).parents[3]
HOSTS = ("head", "one", "two")

SSHD = """
Port 2222
HostKey {keys}/host
AuthorizedKeysFile {keys}/user.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
"""

START = """
set -e
mount -t tmpfs tmpfs "$0"
mount -t tmpfs tmpfs /run
mkdir /run/sshd
mount -t tmpfs tmpfs /opt
mkdir -p /opt/mask-rcnn/node /opt/mask-rcnn/bin
mount --bind "$1" /opt/mask-rcnn/node
ln -s "$2" /opt/mask-rcnn/bin/python
shift 2
exec "$@"
"""

SSH = """
Host *
  Port 2222
  User root
  IdentityFile {keys}/user
  IdentitiesOnly yes
  UserKnownHostsFile {keys}/known_hosts
  HostKeyAlias node
  StrictHostKeyChecking yes
  BatchMode yes
  ConnectTimeout 5
"""


@dataclass
class Nodes:
    """A head and two workers."""

    folder: Path
    network: Cluster
    servers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def ssh(self) -> Ssh:
        """The way to them from the head."""
        return Ssh(str(self.folder / "ssh_config"), str(self.folder / "ssh"))

    @property
    def hosts(self) -> list[Host]:
        return [
            Host(
                f"i-{name}",
                "head" if name == "head" else "worker",
                self.network.names[name],
                slots=0 if name == "head" else 1,
            )
            for name in HOSTS
        ]

    @property
    def efs(self) -> str:
        """Where each has a file system mounted, in memory."""
        return str(self.folder / "efs")

    def wanted(self, *, timeout_s: float = 20) -> dict[str, Wanted]:
        """Return what a node without GPU is looked at for."""
        mounts = (Mount("efs", self.efs, self.efs),)
        disks = {"disk": "/"}
        wanted = Wanted(mounts, 0, 0, disks, "image", timeout_s)
        return {"head": wanted, "worker": wanted}

    def start(self) -> None:
        Path(self.efs).mkdir()
        self.network.connect()
        for name in ("host", "user"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name))
        public = (self.folder / "host.pub").read_text().split()
        (self.folder / "known_hosts").write_text(f"node {public[0]} {public[1]}\n")
        (self.folder / "ssh_config").write_text(SSH.format(keys=self.folder))
        (self.folder / "sshd_config").write_text(SSHD.format(keys=self.folder))
        program = self.folder / "ssh"
        program.write_text(f'#!/bin/sh\nexec ip netns exec {self.network.space("head")} ssh "$@"\n')
        program.chmod(0o755)
        for name in HOSTS:
            self.servers[name] = self._serve(name)
        for name in HOSTS:
            self._wait_for(name)

    def _serve(self, name: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                *("ip", "netns", "exec", self.network.space(name)),
                *("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"),
                *("sh", "-c", START, self.efs, str(ROOT / "node"), sys.executable),
                *("/usr/sbin/sshd", "-D", "-e", "-f", str(self.folder / "sshd_config")),
            ],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _wait_for(self, name: str) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            done = subprocess.run(
                self.ssh.command(self.network.names[name], ["true"]),
                capture_output=True,
                check=False,
            )
            if done.returncode == 0:
                return
            time.sleep(0.1)
        raise TimeoutError(f"{name}: {done.stderr!r}")

    def stop(self) -> None:
        for server in self.servers.values():
            server.kill()
            server.wait()
        self.network.close()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    if os.geteuid() != 0:
        pytest.skip("makes network namespaces")
    folder = tmp_path_factory.mktemp("nodes")
    made = Nodes(folder, Cluster(folder, list(HOSTS), f"health-{uuid.uuid4().hex[:6]}"))
    try:
        made.start()
        yield made
    finally:
        made.stop()
