"""Interpreters as old as the oldest image's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def old_pythons() -> list[str]:
    """Return the interpreters of 3.6 and 3.7 on this machine."""
    found = [shutil.which(name) for name in ("python3.6", "python3.7")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [*filter(None, found), *map(str, pyenv.glob("3.[67].*/bin/python"))]
    return [place for place in places if _runs(place)]


def _runs(python: str) -> bool:
    # pyenv's shims are there for versions that are not.
    done = subprocess.run([python, "-c", "import ctypes"], check=False, capture_output=True)
    return done.returncode == 0
