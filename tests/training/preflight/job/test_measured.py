"""What a log folder says of the pace, and of how many machines it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.training.preflight.job.test_pace import RECORD, leave, line
from training.preflight.job.log_files import LogInFolder
from training.preflight.job.measured import JobLog, Measured, measured

ELASTIC = {
    "platform": "eks",
    "request": {
        "instance_type": "g5.12xlarge",
        "hosts": ["one", "two", "three"],
        "distribution": "elastic",
        "processes_per_host": 4,
    },
    "world_size": 12,
}


def reading(step: int, speed: float, batch: Any, epoch: float = 1.0) -> str:
    values = {"images_per_second": speed, "global_batch_size": batch}
    return line(step, epoch=epoch, values=values)


def look(
    folder: Path, record: Any, lines: str, *, instance_type: str | None = None
) -> Measured | None:
    """Read a log folder of a job with two pictures of each rank in a step."""
    leave(folder, record=record, lines=lines)
    log = JobLog(LogInFolder(folder), instance_type)
    return measured(log, local_batch_size=2)


def test_the_machines_of_an_elastic_job_follow_from_its_last_readings(tmp_path: Path) -> None:
    faster = "".join(reading(step, 30.0, 24) for step in range(5))
    lines = faster + "".join(reading(step, 20.0, 16) for step in range(5, 11))
    pace = look(tmp_path, ELASTIC, lines)
    assert pace is not None
    # 16 pictures of two each: eight ranks, four on an instance.
    assert (pace.instance_type, pace.instances, pace.world_size) == ("g5.12xlarge", 2, 8)
    assert (pace.images_per_second, pace.of_each, len(pace.readings)) == (20.0, 2.5, 6)


@pytest.mark.parametrize(
    "batches",
    [
        # Of no whole number of instances, or of ranks.
        (10,) * 9,
        (7,) * 9,
        # Too few of the same.
        (24, 24, 24, 24, 24, 16, 16, 16, 16),
        # Of an older version, or of nothing that can be.
        (None,) * 9,
        (0,) * 9,
        (float("nan"),) * 9,
        (float("inf"),) * 9,
        ("?",) * 9,
    ],
)
def test_an_elastic_job_whose_ranks_are_not_known_tells_nothing(
    tmp_path: Path, batches: tuple[Any, ...]
) -> None:
    lines = "".join(reading(step, 20.0, batch) for step, batch in enumerate(batches))
    assert look(tmp_path, ELASTIC, lines) is None


@pytest.mark.parametrize("per_host", [None, 0, -4, "4", 4.0, True])
def test_processes_of_a_host_are_a_whole_number(tmp_path: Path, per_host: Any) -> None:
    request = {**ELASTIC["request"], "processes_per_host": per_host}  # type: ignore[dict-item]
    lines = "".join(reading(step, 20.0, 16) for step in range(9))
    found = look(tmp_path, {**ELASTIC, "request": request}, lines)
    # JSON's true is no number.
    assert found is None


def test_on_ec2_the_type_of_an_elastic_job_is_what_was_written_down(tmp_path: Path) -> None:
    record = json.loads(json.dumps({**ELASTIC, "platform": "ec2"}))
    record["request"] |= {"instance_type": "m6i.xlarge", "hosts": ["head"]}
    lines = "".join(reading(step, 20.0, 16) for step in range(9))
    assert look(tmp_path, record, lines) is None
    pace = look(tmp_path, record, lines, instance_type="g5.12xlarge")
    assert pace is not None
    assert (pace.instance_type, pace.instances, pace.world_size) == ("g5.12xlarge", 2, 8)


def test_steps_that_are_done_are_counted_in_those_of_the_last_readings(tmp_path: Path) -> None:
    """A quarter of a pass in 100 steps: one and a half are 600 of them, whatever was before."""
    lines = "".join(
        reading(step, 20.0, 16, epoch=1.25 + (step - 9_900) / 400)
        for step in range(9_900, 10_001, 10)
    )
    elastic = look(tmp_path, ELASTIC, lines)
    assert elastic is not None
    assert elastic.steps_done == pytest.approx(600)
    other = look(tmp_path, RECORD, lines)
    assert other is not None
    assert other.steps_done == 10_000
    standing = look(tmp_path, ELASTIC, "".join(reading(step, 20.0, 16) for step in range(9)))
    assert standing is not None
    assert standing.steps_done is None
