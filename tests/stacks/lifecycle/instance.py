"""Something like a notebook instance: the start script runs in it as root, with real files.

Mount, process and network namespaces of its own hold what the script may see and change; commands
that reach out (mount, dnf, aws, systemd, Python's package installer) are recorded instead of run.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

from stacks.constructs.notebook_scripts import OnStartValues, render
from stacks.constructs.notebook_source import PROJECT, write_archive

HERE = Path(__file__).parent
USER = 1000
"""Id of ec2-user."""

DOCUMENTED_PATH = "/usr/local/sbin:/usr/local/bin:/usr/bin:/usr/sbin:/sbin:/bin"
"""https://docs.aws.amazon.com/sagemaker/latest/dg/notebook-lifecycle-config.html"""

VALUES = OnStartValues(
    notebook_name="vision",
    region="eu-central-1",
    efs_dns_name="fs-1.efs.eu-central-1.amazonaws.com",
    efs_with_role="",
    fsx_dns_name="fs-2.fsx.eu-central-1.amazonaws.com",
    fsx_mount_name="abcdefgh",
    fsx_data_path="/data",
    source_bucket="assets",
    source_key="source.zip",
    source_sha256="",
    wheels="",
    idle_minutes=120,
    mount_timeout_s=5,
    download_timeout_s=10,
)


@dataclass(frozen=True)
class Start:
    """What a start left."""

    code: int
    printed: str
    took_s: float
    calls: list[list[str]]
    """The commands that reach out, in order, each with its arguments."""
    root: Path
    """Of the root volume: `home`, `opt`, `bin` (/usr/local/bin), `log` (/var/log)."""

    def calls_of(self, *words: str) -> list[list[str]]:
        """Return the calls that begin with these words."""
        return [call for call in self.calls if call[: len(words)] == list(words)]

    @property
    def setup_log(self) -> str:
        log = self.root / "log" / "distributed-mask-rcnn-setup.log"
        return log.read_text() if log.exists() else ""

    @property
    def home(self) -> Path:
        return self.root / "home" / "ec2-user"


@dataclass
class Instance:
    """One instance over several starts."""

    folder: Path
    values: OnStartValues = VALUES
    starts: int = 0
    project: Path = PROJECT
    wheels: Path | None = None
    """What the bucket holds in the folder of wheels; Python is then real."""

    @property
    def volume(self) -> Path:
        """What outlives a stop: /home/ec2-user/SageMaker."""
        return self.folder / "volume"

    def start(self, *command: str, **faults: str) -> Start:
        """Start it from a fresh root volume, then run a command as its user."""
        self.starts += 1
        root = self.folder / f"root-{self.starts}"
        for part in ("home/ec2-user/SageMaker", "opt", "log"):
            (root / part).mkdir(parents=True)
        shutil.copytree(HERE / "fakes", root / "bin")
        if self.wheels:
            (root / "bin" / "python3.11").unlink()
            shutil.copytree(self.wheels, root / "log" / "wheels")
        if not self.volume.exists():
            self.volume.mkdir()
            shutil.chown(self.volume, USER, USER)
        shutil.chown(root / "home/ec2-user", USER, USER)
        archive = root / "log" / "source.zip"
        write_archive(archive, self.project)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if not self.values.source_sha256:
            self.values = replace(self.values, source_sha256=digest)
        (root / "log" / "calls").touch()
        (root / "log" / "calls").chmod(0o666)
        (root / "log" / "mounted").touch()
        (root / "on-start").write_text(render(self.values))
        return self.run(root, *command, **faults)

    def run(self, root: Path, *command: str, **faults: str) -> Start:
        """Run the script on a root volume, whose calls are counted anew."""
        (root / "log" / "calls").write_text("")
        (root / "log" / "faults").write_text(
            "".join(f"{name.upper()}={shlex.quote(value)}\n" for name, value in faults.items())
        )
        begin = time.monotonic()
        done = subprocess.run(
            [
                *("unshare", "--mount", "--pid", "--net", "--fork", "--mount-proc"),
                *("bash", HERE / "boot.sh", root, self.volume, *command),
            ],
            env={"PATH": DOCUMENTED_PATH},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        return Start(
            code=done.returncode,
            printed=done.stdout + done.stderr,
            took_s=time.monotonic() - begin,
            calls=[
                line.split("\x1f") for line in (root / "log" / "calls").read_text().splitlines()
            ],
            root=root,
        )
