"""A stand-in for the container engine; see podman_stand_in.py."""

from __future__ import annotations

import json
import os
import textwrap
from dataclasses import dataclass
from pathlib import Path

from training.container_engine import Engine

STAND_IN = Path(__file__).with_name("podman_stand_in.py")


@dataclass(frozen=True)
class StandIn:
    """What the engine of a test was asked, and what its containers do."""

    state: Path

    @property
    def engine(self) -> Engine:
        return Engine("podman", str(self.state / "bin" / "podman"))

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.state / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"STAND_IN": str(self.state), "PATH": path}

    def calls(self, command: str) -> list[list[str]]:
        """Return the calls that have the word."""
        lines = (self.state / "calls.jsonl").read_text().splitlines()
        return [words for words in map(json.loads, lines) if command in words]

    def containers_do(self, program: str) -> None:
        """Say what a container does: `host` is its name, `ml(path)` a folder below /opt/ml."""
        (self.state / "host.py").write_text(
            "import json, os, signal, sys, time\nfrom pathlib import Path\n"
            "host, folders = os.environ['CURRENT_HOST'], json.loads(os.environ['ML'])\n"
            "def ml(path):\n    return Path(folders['/opt/ml/' + path])\n"
            + textwrap.dedent(program)
        )

    def is_empty(self) -> bool:
        """Return whether no container and no network is left."""
        left = [*(self.state / "containers").iterdir(), *(self.state / "networks").iterdir()]
        return not left
