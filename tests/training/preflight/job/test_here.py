"""The engine and the image of containers on this machine."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import codes_of, only_finding_of
from training.container_engine import Engine
from training.errors import PreflightError
from training.preflight.job import here
from training.preflight.job.here import ImageIsHere

CHECK = ImageIsHere("localhost/mine:1", "horovod", gpus=False)


class Holding(Engine):
    def has_image(self, image: str) -> bool:
        return image == "localhost/mine:1"


def with_engine(monkeypatch: pytest.MonkeyPatch, engine: Engine | PreflightError) -> None:
    def find(*_: Any) -> Engine:
        if isinstance(engine, PreflightError):
            raise engine
        return engine

    monkeypatch.setattr(here, "find_engine", find)


def test_an_image_that_is_here_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    with_engine(monkeypatch, Holding("podman", "podman"))
    assert codes_of(CHECK) == []


def test_one_that_is_not_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with_engine(monkeypatch, Holding("podman", "podman"))
    other = ImageIsHere("localhost/other:1", "horovod", gpus=False)
    finding = only_finding_of(other, "image-missing")
    assert finding.message.startswith("podman has no image localhost/other:1")
    assert (finding.severity, finding.path) == ("error", "image")


def test_no_engine_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with_engine(monkeypatch, PreflightError("there is no container engine here"))
    finding = only_finding_of(CHECK, "container-engine-missing")
    assert finding.message == "there is no container engine here"
