"""The stand-in for the container engine, in the PATH of a test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.training.platforms.sagemaker.containers.stand_in import STAND_IN, StandIn


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    made = StandIn(tmp_path / "stand-in")
    program = made.state / "bin" / "podman"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n')
    program.chmod(0o755)
    (made.state / "images").write_text("registry/image:1")
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    return made
