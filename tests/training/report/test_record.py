import json
from typing import Any

import pytest

from training.report.record import TAIL_LINES, read_record


def test_an_empty_channel_gives_an_empty_record(sample: Any):
    record = read_record(sample.log)
    assert (record.job, record.hyperparameters, record.outcome) == ({}, {}, None)
    assert (record.rank_logs, record.problems) == ((), ())


def test_files_that_are_not_whole_are_said(sample: Any):
    sample.log.job.write_text('{"job_name": "a', encoding="utf-8")
    sample.log.hyperparameters.write_text("[1]", encoding="utf-8")
    sample.log.outcome.mkdir()
    record = read_record(sample.log)
    assert record.problems == (
        "job.json is not whole: it is not JSON.",
        "hyperparameters.json holds no object.",
        "outcome.json cannot be read (Is a directory).",
    )


def test_ranks_are_in_order_of_their_number(sample: Any):
    for rank in (10, 2, 0):
        sample.log.rank(rank).write_text(f"from {rank}\n", encoding="utf-8")
    assert [(log.rank, log.lines) for log in read_record(sample.log).rank_logs] == [
        (0, ("from 0",)),
        (2, ("from 2",)),
        (10, ("from 10",)),
    ]


def test_only_the_last_lines_of_a_long_log_are_read(sample: Any):
    sample.log.rank(0).write_text("".join(f"line {n}\n" for n in range(100_000)), encoding="utf-8")
    (log,) = read_record(sample.log).rank_logs
    assert log.lines[-1] == "line 99999"
    assert len(log.lines) == TAIL_LINES


def test_terminal_escapes_and_progress_bars_are_cleaned(sample: Any):
    raw = b"\x1b[31mred\x1b[0m\r\n 10%\r 50%\r100% done\nbad \xff byte\n" + b"x" * 5000 + b"\n"
    sample.log.rank(0).write_bytes(raw)
    (log,) = read_record(sample.log).rank_logs
    assert log.lines[:3] == ("red", "100% done", "bad � byte")
    assert log.lines[3] == "x" * 400 + " …"


def test_tensorpacks_figures_are_read_from_its_file_of_each_start(sample: Any):
    sample.write_job(algorithm="tensorpack")
    for number, (name, step) in enumerate((("stat.json", 500), ("stats.json", 1000)), 1):
        attempt = sample.log.checkpoints / f"attempt-{number}"
        attempt.mkdir(parents=True)
        entry = {"global_step": step, "epoch_num": number, "total_cost": 1 / number}
        (attempt / name).write_text(json.dumps([entry]), encoding="utf-8")
    sample.log.rank(0).write_text("Epoch 9 (global_step 9000) finished\n", encoding="utf-8")
    metrics = read_record(sample.log).metrics
    assert [(p.x, p.mean) for p in metrics.train["total_cost"]] == [(500, 1.0), (1000, 0.5)]


@pytest.mark.parametrize("name", ["rank-0.log", "launcher.log", "checkpoints/attempt-1/log.log"])
def test_without_it_they_are_read_as_they_were_printed(sample: Any, name: str):
    sample.write_job(algorithm="aws-samples")
    path = sample.log.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "[1128 12:00:01 @base.py:284] Epoch 1 (global_step 500) finished, time:1 minute.\n"
        "[1128 12:00:01 @monitor.py:474] total_cost: 2.5\n",
        encoding="utf-8",
    )
    metrics = read_record(sample.log).metrics
    assert [(p.x, p.mean) for p in metrics.train["total_cost"]] == [(500, 2.5)]


def test_our_trainers_file_counts_before_all_others(sample: Any):
    sample.write_all()
    attempt = sample.log.checkpoints / "attempt-1"
    attempt.mkdir(parents=True)
    entry = {"global_step": 9, "epoch_num": 1, "total_cost": 1.0}
    (attempt / "stats.json").write_text(json.dumps([entry]), encoding="utf-8")
    assert read_record(sample.log).metrics.last_step == 40
