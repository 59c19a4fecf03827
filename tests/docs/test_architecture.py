"""The picture of the architecture is that of the templates."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(
    not (PROJECT / "node_modules/@viz-js").is_dir(), reason="Graphviz is not installed: make setup"
)
def test_the_picture_of_the_architecture_is_that_of_the_templates() -> None:
    script = (
        "import sys; sys.path.insert(0, 'docs'); import draw_architecture as d\n"
        "sys.exit(d.render(d.draw()) != d.PICTURE.read_text(encoding='utf-8'))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, check=False)
    assert done.returncode == 0, "run: python docs/draw_architecture.py"
