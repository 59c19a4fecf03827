"""The reference says what the code does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def test_the_tables_of_the_reference_are_those_of_the_code() -> None:
    script = (
        "import sys; sys.path.insert(0, 'docs'); import make_reference as m\n"
        "text = m.REFERENCE.read_text(encoding='utf-8')\n"
        "sys.exit(m.render(text) != text)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, check=False)
    assert done.returncode == 0, "run: python docs/make_reference.py"
