"""The changes to AWS's optimized implementation: all of them, or none."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docker.images.dockerfiles import DOCKER
from training.algorithms import aws_samples

FILE = DOCKER / "aws-samples" / "patches.py"


def load() -> Any:
    spec = importlib.util.spec_from_file_location("aws_samples_patches", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


patches = load()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Files that hold what the patches look for, and a line around it."""
    for patch in patches.PATCHES:
        path = tmp_path / patch.path
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(f"{before}# before\n{patch.old}# after\n")
    return tmp_path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, FILE, *arguments], capture_output=True, text=True, check=False
    )


def test_every_patch_is_made_once(sources: Path) -> None:
    done = run(str(sources))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(patches.PATCHES)
    train = (sources / "MaskRCNN/train.py").read_text()
    assert train == "# before\n# after\n# before\n                every_k_epochs=1),\n# after\n"
    again = run(str(sources))
    assert again.returncode == 1
    assert "once, found it 0 times" in again.stderr


@pytest.mark.parametrize("patch", patches.PATCHES, ids=lambda patch: patch.why[:30])
@pytest.mark.parametrize("times", [0, 2])
def test_sources_of_another_commit_are_left_alone(sources: Path, patch: Any, times: int) -> None:
    path = sources / patch.path
    path.write_text(path.read_text().replace(patch.old, patch.old * times))
    before = {file: file.read_text() for file in sources.rglob("*.py")}
    done = run(str(sources))
    assert done.returncode == 1
    assert f"{patch.path}: expected" in done.stderr
    assert f"found it {times} times" in done.stderr
    assert {file: file.read_text() for file in sources.rglob("*.py")} == before


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = run(str(tmp_path))
    assert done.returncode == 1
    assert "MaskRCNN/train.py: cannot be read (No such file or directory)" in done.stderr


def test_the_losses_get_the_names_that_the_metrics_have() -> None:
    (scope,) = [
        match[1]
        for patch in patches.PATCHES
        if (match := re.search(r"name_scope='(\w+)'", patch.new)) is not None
    ]
    assert [m.name for m in aws_samples.METRICS if m.name == f"{scope}/box_loss"]
    assert not [m.name for m in aws_samples.METRICS if m.name.startswith("boxclass")]
