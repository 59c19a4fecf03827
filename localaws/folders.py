"""Where one local AWS keeps its things: the files of a state directory."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

PROJECT_ROOT = Path(__file__).parents[1]

DEFAULT_STATE_DIR = PROJECT_ROOT / ".localaws"


@dataclass(frozen=True)
class StateDirectory:
    """The folder of one local AWS; two servers never share one."""

    root: Path

    def command(self, arguments: str) -> str:
        """Return a `python -m localaws` command for this folder, as a shell takes it."""
        here = (
            "" if self.root == DEFAULT_STATE_DIR else f" --state-dir {shlex.quote(str(self.root))}"
        )
        return f"python -m localaws {arguments}{here}"

    @property
    def record(self) -> Path:
        """Which process serves it (JSON); there while it runs."""
        return self.root / "server.json"

    @property
    def lock(self) -> Path:
        """Held by the server's process for as long as it lives."""
        return self.root / "server.lock"

    @property
    def log(self) -> Path:
        return self.root / "server.log"

    @property
    def backends(self) -> Path:
        """The saved state of all services."""
        return self.root / "backends.pickle"

    @property
    def consoles(self) -> Path:
        """What the init of each host says, in a file named by the instance's id."""
        return self.root / "hosts"

    @property
    def file_systems(self) -> Path:
        """One folder for each EFS and FSx file system, named by its id."""
        return self.root / "file-systems"
