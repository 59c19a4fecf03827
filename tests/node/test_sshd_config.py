"""The SSH server's configuration, as sshd itself reads it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from node import paths
from tests.node.setup.host import PROJECT

SSHD = shutil.which("sshd", path="/usr/sbin:/sbin") or "/usr/sbin/sshd"


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="sshd reads its configuration as root")
def test_only_root_comes_in_and_only_with_a_key(tmp_path: Path) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "host_key"], check=True
    )
    text = (PROJECT / "node/sshd_config").read_text()
    config = tmp_path / "sshd_config"
    config.write_text(text.replace("/etc/mask-rcnn/ssh/host_key", str(tmp_path / "host_key")))
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    done = subprocess.run([SSHD, "-T", "-f", config], capture_output=True, text=True, check=True)
    read = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    wanted = {
        "port": str(paths.SSH_PORT),
        "permitrootlogin": "without-password",
        "allowusers": "root",
        "passwordauthentication": "no",
        "kbdinteractiveauthentication": "no",
        "authenticationmethods": "publickey",
        "authorizedkeysfile": "/etc/mask-rcnn/ssh/authorized_keys",
        "disableforwarding": "yes",
        "permittty": "no",
        "usepam": "no",
        "strictmodes": "yes",
        "clientaliveinterval": "10",
        "clientalivecountmax": "3",
        "maxstartups": "200:30:200",
    }
    assert {name: read.get(name) for name in wanted} == wanted
    assert done.stderr == ""
