"""A control group for each host: two inits in one would end each other's processes."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from localaws.hosts import requirements

_OURS = re.compile(r"mask-rcnn-localaws\.(\d+)\.")

REMOVE_S = 5.0
"""How long the kernel may take to let go of processes that were killed."""


@dataclass(frozen=True)
class ControlGroup:
    """The control group of one host."""

    path: Path

    @classmethod
    def make(cls, name: str) -> ControlGroup:
        top = requirements.control_groups()
        assert top is not None, "checked before the first host"
        path = top / f"mask-rcnn-localaws.{os.getpid()}.{name}"
        path.mkdir(exist_ok=True)
        return cls(path)

    @property
    def processes(self) -> Path:
        """The file that takes the processes which are to be in it."""
        return self.path / "cgroup.procs"

    def remove(self) -> None:
        """Remove it with what the host made below it; its processes are gone."""
        deadline = time.monotonic() + REMOVE_S
        while self.path.exists() and time.monotonic() < deadline:
            for folder, _, _ in os.walk(self.path, topdown=False):
                with suppress(OSError):
                    Path(folder).rmdir()
            time.sleep(0.02)


def remove_leftovers() -> None:
    """Remove those of servers that were killed; their hosts went with them."""
    top = requirements.control_groups()
    for path in top.iterdir() if top else ():
        found = _OURS.match(path.name)
        if found and not psutil.pid_exists(int(found[1])):
            ControlGroup(path).remove()
