from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import scaling
from bench.scaling import Case, Model
from training.layout import LogChannel
from training.maskrcnn.hyperparameters import read_hyperparameters
from training.maskrcnn.schedule import make_schedule


@pytest.mark.parametrize("model", list(Model))
def test_both_sides_take_as_many_steps_of_the_same_local_batch(model: Model) -> None:
    case = Case(model, steps=5, batch=4)
    steps, batches = set(), set()
    for ranks in (1, 2):
        values = read_hyperparameters(case.hyperparameters(ranks), source="bench")
        assert values.images_per_epoch is not None
        schedule = make_schedule(values, world_size=ranks, images_per_epoch=values.images_per_epoch)
        steps.add(schedule.total_steps)
        batches.add(values.batch_size_per_gpu)
    assert steps == {5 * scaling.WINDOWS}
    assert len(batches) == 1


def test_a_step_is_the_median_of_all_windows_but_the_first(tmp_path: Path) -> None:
    log = LogChannel(tmp_path)
    (tmp_path / "given.json").write_text(json.dumps({"batch_size_per_gpu": 4}))
    lines = [{"kind": "train", "values": {"images_per_second": speed}} for speed in (1, 16, 8, 4)]
    lines.append({"kind": "evaluation", "values": {}})
    log.metrics.write_text("\n".join(map(json.dumps, lines)))
    assert scaling._step_s(log, ranks=2) == 1.0


def test_a_rank_runs_on_the_core_of_its_number() -> None:
    cores = sorted(os.sched_getaffinity(0))
    script = "import os; print(os.sched_getaffinity(0))"
    argv = [
        sys.executable,
        "-m",
        "bench.on_core",
        f"9999,{cores[-1]}",
        sys.executable,
        "-c",
        script,
    ]
    done = subprocess.run(
        argv,
        env={**os.environ, "HOROVOD_LOCAL_RANK": "1"},
        cwd=scaling.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{{{cores[-1]}}}\n"
