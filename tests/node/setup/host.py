"""Something like a fresh EC2 instance, on which the real set-up runs as root.

Mount, process and network namespaces of its own, an empty layer over this machine's files: the
scripts write where they write on an instance, and nothing of it is left. What reaches out (aws,
mount, systemd, chrony, Docker) is recorded; SSH, its keys, the register and the metadata client are
the real ones.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]
INSTANCE = "i-0123456789abcdef0"
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:keys-AbCdEf"
EFS_DNS = "fs-1.efs.eu-central-1.amazonaws.com"
FSX_DNS = "fs-2.fsx.eu-central-1.amazonaws.com"

SETUP = "bash /opt/mask-rcnn/node/setup.sh"
"""What user data runs."""

READ_CONFIG = (
    "mkdir -p /opt/mask-rcnn/bin; ln -sfn /usr/bin/python3 /opt/mask-rcnn/bin/python;"
    " export PYTHONPATH=/opt/mask-rcnn; while IFS= read -r -d '' pair; do export \"$pair\"; done"
    " < <(/opt/mask-rcnn/bin/python -m node.config)"
)
"""What setup.sh does before its first step."""

CONFIG: dict[str, Any] = {
    "cluster": "vision",
    "role": "head",
    "region": "eu-central-1",
    "stack": "ClusterStack",
    "resource": "HeadGroup",
    "head_group": "vision-head",
    "worker_group": "vision-workers",
    "efs": {"id": "fs-1", "mount": "/efs", "dns": EFS_DNS},
    "fsx": None,
    "key_secret_arn": SECRET,
    "log_group": "/mask-rcnn/vision",
    "runs_in": "image",
    "elastic_ip_allocation": None,
    "setup_minutes": 5,
}

METADATA = {
    "instance-id": INSTANCE,
    "local-ipv4": "127.0.0.1",
    "instance-type": "m6i.xlarge",
    "placement/availability-zone": "eu-central-1a",
    "mac": "02:00:00:00:00:01",
    "network/interfaces/macs/02:00:00:00:00:01/interface-id": "eni-1",
}


@dataclass(frozen=True)
class Left:
    """What a run left."""

    code: int
    printed: str
    took_s: float
    calls: list[list[str]]
    """The commands that reach out, in order, each with its arguments."""
    root: Path
    """Of what was written to /etc, /opt/mask-rcnn/bin, /var/log/mask-rcnn, …"""
    share: Path

    def calls_of(self, *words: str) -> list[list[str]]:
        """Return the calls that begin with these words."""
        return [call for call in self.calls if call[: len(words)] == list(words)]

    @property
    def log(self) -> str:
        return (self.root / "var/log/mask-rcnn/setup.log").read_text()

    @property
    def error(self) -> str:
        """The one error of a step that failed."""
        assert self.code == 1, self.printed
        [line] = [one for one in self.printed.splitlines() if "ERROR: " in one]
        return line.partition("ERROR: ")[2]

    @property
    def registration(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            (self.share / f"nfs4/mask-rcnn/clusters/vision/nodes/{INSTANCE}.json").read_text()
        )
        return found

    @property
    def signals(self) -> list[str]:
        return [call[-1] for call in self.calls_of("aws", "cloudformation", "signal-resource")]


@dataclass
class Host:
    """One instance, made anew at each run; `folder/share` is what outlives it."""

    folder: Path
    config: dict[str, Any] = field(default_factory=lambda: json.loads(json.dumps(CONFIG)))
    metadata: dict[str, str] = field(default_factory=lambda: dict(METADATA))
    ports: tuple[int, ...] = (2049, 988)
    programs: dict[str, str] = field(default_factory=dict)
    """Further commands, each a script."""
    without: tuple[str, ...] = ()
    """Commands that this AMI lacks."""
    aws_faults: dict[str, str] = field(default_factory=dict)
    names: str = f"127.0.0.1 localhost\n127.0.0.1 {EFS_DNS} {FSX_DNS}\n"
    runs: int = 0

    @property
    def share(self) -> Path:
        path = self.folder / "share"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def step(self, name: str, *, seconds: int = 100, **faults: str) -> Left:
        """Run one step of the set-up alone."""
        command = f"STEP_SECONDS={seconds} bash /opt/mask-rcnn/node/setup/{name}.sh"
        return self.run(command, before=READ_CONFIG, **faults)

    def run(
        self, command: str = SETUP, *, before: str = "", after: str = "", **faults: str
    ) -> Left:
        """Run the set-up, and commands before it and after it went well."""
        self.runs += 1
        work = self.folder / f"run-{self.runs}"
        self._lay_out(work / "instance")
        (work / "share").symlink_to(self.share)
        (self.share / "calls").write_text("")
        (self.share / "faults").write_text(
            "".join(f"{name.upper()}={shlex.quote(value)}\n" for name, value in faults.items())
        )
        (self.share / "aws-faults.json").write_text(json.dumps(self.aws_faults))
        (self.share / "metadata.json").write_text(json.dumps(self.metadata))
        (self.share / "world-is-up").unlink(missing_ok=True)
        world = " ".join(["/usr/bin/python3 /world.py", *map(str, self.ports)])
        line = f"{world} & while [[ ! -e /share/world-is-up ]]; do sleep 0.02; done; "
        line += " && ".join(part for part in (before, command, after) if part)
        begin = time.monotonic()
        done = subprocess.run(
            [
                *("unshare", "--mount", "--pid", "--net", "--uts", "--fork", "--kill-child"),
                *("bash", HERE / "boot.sh", work, line),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Left(
            code=done.returncode,
            printed=done.stdout + done.stderr,
            took_s=time.monotonic() - begin,
            calls=[
                line.split("\x1f")
                for line in (self.share / "calls").read_text(errors="replace").splitlines()
            ],
            root=work / "left",
            share=self.share,
        )

    def _lay_out(self, root: Path) -> None:
        asset = root / "opt/mask-rcnn"
        for part in ("node", "docker", "toolchain"):
            shutil.copytree(
                PROJECT / part, asset / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        for path in (asset / "node").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)  # as from a zip archive
        shutil.copy(PROJECT / "requirements-train.txt", asset)
        shutil.copytree(HERE / "fakes", root / "usr/local/bin")
        for name in self.without:
            (root / "usr/local/bin" / name).unlink()
        for name, script in self.programs.items():
            (root / "usr/local/bin" / name).write_text(f"#!/bin/bash\n{script}\n")
        for path in (root / "usr/local/bin").iterdir():
            path.chmod(0o755)
        (root / "etc/mask-rcnn").mkdir(parents=True)
        (root / "etc/mask-rcnn/node.json").write_text(json.dumps(self.config))
        (root / "etc/hosts").write_text(self.names)
        (root / "etc/resolv.conf").write_text(
            "nameserver 127.0.0.1\noptions attempts:1 timeout:1\n"
        )
        shutil.copy(HERE / "world.py", root / "world.py")
