"""What is seen before AWS takes an instance away."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from node import paths
from node.metadata import Metadata
from node.spot.__main__ import leave, watch
from tests.node.metadata_service import metadata_service

SPOT = json.dumps({"action": "terminate", "time": "2026-01-01T00:00:00Z"})


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            {"spot__instance_action": SPOT},
            "spot interruption: terminate at 2026-01-01T00:00:00Z",
        ),
        ({"spot__instance_action": "{}"}, "spot interruption: {}"),
        (
            {"autoscaling__target_lifecycle_state": "Terminated"},
            "the auto-scaling group ends this instance",
        ),
    ],
)
def test_a_notice_is_a_reason_to_leave(values: dict[str, str], reason: str) -> None:
    with metadata_service(**values) as service:
        assert watch(Metadata(service.endpoint)) == reason


def test_it_watches_through_what_is_no_notice_and_through_a_service_that_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with metadata_service(autoscaling__target_lifecycle_state="InService") as service:
        service.values["events/recommendations/rebalance"] = '{"noticeTime": "now"}'
        found: list[str] = []
        metadata = Metadata(service.endpoint)
        thread = threading.Thread(target=lambda: found.append(watch(metadata, every_s=0.05)))
        thread.start()
        time.sleep(0.3)
        service.is_broken = True
        time.sleep(0.3)
        service.is_broken = False
        assert found == []
        service.values["spot/instance-action"] = SPOT
        thread.join(timeout=2)
    assert found == ["spot interruption: terminate at 2026-01-01T00:00:00Z"]
    said = capsys.readouterr().err.splitlines()
    # Each once, however often it was seen.
    assert len(said) == 2
    assert said[0].startswith('spot: AWS recommends to rebalance, {"noticeTime": "now"}')
    assert said[1].endswith("answers 503")


def test_register_and_job_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "RUN", tmp_path / "run")
    monkeypatch.setattr(paths, "LEAVING", tmp_path / "run" / "leaving")
    # The job is told after the register: what it asks next must not name this host any more.
    job = f"import json; print(json.load(open({str(tmp_path / 'run/leaving')!r}))['reason'])"
    leave("spot interruption", [sys.executable, "-c", job])
    said = capfd.readouterr()
    assert said.out == ""
    assert "spot interruption\n" in said.err.splitlines(keepends=True)
    told: Any = json.loads((tmp_path / "run/leaving").read_text())
    assert told["time"] == pytest.approx(time.time(), abs=60)


def test_a_job_that_cannot_be_told_is_no_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "RUN", tmp_path)
    monkeypatch.setattr(paths, "LEAVING", tmp_path / "leaving")
    leave("the end", ["/nowhere/command"])
    assert "could not be told" in capsys.readouterr().err
    assert (tmp_path / "leaving").exists()
