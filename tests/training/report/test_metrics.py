import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.report.metrics import parse_metrics, read_metrics


def test_values_become_curves_over_steps(sample: Any):
    metrics = parse_metrics([sample.train_line(10), sample.train_line(20)])
    assert [(p.x, p.mean) for p in metrics.train["total_loss"]] == [(10, 0.4), (20, 0.2)]
    assert (metrics.last_step, metrics.last_epoch) == (20, 2.0)
    assert metrics.wall_s == 10.0


def test_no_file_gives_no_curves(tmp_path: Path):
    metrics = read_metrics(tmp_path / "metrics.jsonl")
    assert (metrics.train, metrics.evaluation, metrics.wall_s) == ({}, {}, None)


def test_half_a_last_line_is_left_out_and_counted(sample: Any):
    whole = sample.train_line(10)
    metrics = parse_metrics([whole + "\n", whole[: len(whole) // 2]])
    assert len(metrics.train["total_loss"]) == 1
    assert metrics.unreadable_lines == 1


def test_values_that_are_not_finite_are_counted_and_not_drawn(sample: Any):
    lines = [
        sample.train_line(10),
        sample.train_line(20, total_loss=float("nan")),
        sample.train_line(30, total_loss=float("inf")),
    ]
    metrics = parse_metrics(lines)
    assert [p.x for p in metrics.train["total_loss"]] == [10]
    seen = metrics.not_finite["total_loss"]
    assert (seen.first_step, seen.count) == (20, 2)


def test_a_resumed_job_does_its_steps_again_once(sample: Any):
    lines = [sample.train_line(step) for step in (10, 20, 30, 20, 30, 40)]
    metrics = parse_metrics(lines)
    assert [p.x for p in metrics.train["total_loss"]] == [10, 20, 30, 40]
    assert metrics.resumed_at == [20]


def test_no_such_object_is_kept_for_the_table_and_not_drawn(sample: Any):
    metrics = parse_metrics([sample.evaluation_line(10)])
    assert metrics.last_evaluation["mAP(segm)/small"] == -1
    assert "mAP(segm)/small" not in metrics.evaluation
    assert metrics.last_evaluation_step == 10


def test_time_of_a_step_leaves_out_evaluations(sample: Any):
    at = [("train", 10, 100.0), ("train", 20, 102.0), ("evaluation", 20, 190.0)]
    at += [("train", 30, 200.0), ("train", 40, 203.0)]
    lines = [sample.metrics_line(kind, step, time_s, {"a": 1.0}) for kind, step, time_s in at]
    seconds = [p.mean for p in parse_metrics(lines).step_s]
    assert seconds == pytest.approx([0.2, 0.3])


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "3",
        '{"kind": "train"}',
        '{"kind": "other", "step": 1, "values": {}}',
        '{"kind": "train", "step": "1", "values": {}}',
        '{"kind": "train", "step": 1, "values": []}',
        "[" * 100_000,
    ],
)
def test_lines_of_another_form_are_left_out(line: str):
    metrics = parse_metrics([line])
    assert (metrics.unreadable_lines, metrics.train) == (1, {})


def test_values_that_are_no_numbers_are_left_out():
    values = {"text": "1", "none": None, "flag": True, "list": [1], "huge": 10**400, "good": 1}
    entry = {"kind": "train", "step": 1, "epoch": None, "time_s": "now", "values": values}
    metrics = parse_metrics([json.dumps(entry)])
    assert set(metrics.train) == {"good"}
    assert metrics.wall_s is None


@given(st.lists(st.text()))
def test_no_text_makes_it_fail(lines: list[str]):
    metrics = parse_metrics(lines)
    assert metrics.unreadable_lines == sum(1 for line in lines if line.strip())
