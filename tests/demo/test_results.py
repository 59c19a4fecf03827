"""The demo fails unless its jobs learned what they must."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demo.results import (
    LOSS_HALVED,
    MAP,
    MAP_50,
    SHAPES_LEARNED,
    Goal,
    Learned,
    check,
    describe,
    find_log,
    read_learned,
)
from training.errors import JobFailed
from training.layout import LogChannel


def learned(first: float = 4.0, last: float = 1.0, m: float = 0.7, m50: float = 0.9) -> Learned:
    return Learned(first, last, {MAP: m, MAP_50: m50}, 60.0)


def write_metrics(folder: Path, lines: list[tuple[str, dict[str, float]]]) -> LogChannel:
    log = LogChannel(folder)
    log.metrics.write_text(
        "".join(
            json.dumps({"kind": kind, "step": i, "epoch": 0, "time_s": 100.0 + i, "values": values})
            + "\n"
            for i, (kind, values) in enumerate(lines)
        )
    )
    return log


def test_learned_is_the_first_loss_the_mean_of_the_last_and_the_last_evaluation(
    tmp_path: Path,
) -> None:
    log = write_metrics(
        tmp_path,
        [
            ("train", {"total_loss": 4.0}),
            ("evaluation", {MAP: 0.1, MAP_50: 0.2}),
            ("train", {"total_loss": 3.0}),
            ("train", {"total_loss": 1.0}),
            ("train", {"total_loss": 2.0}),
            ("evaluation", {MAP: 0.6, MAP_50: 0.9}),
        ],
    )
    assert read_learned(log) == Learned(4.0, 2.0, {MAP: 0.6, MAP_50: 0.9}, 5.0)


@pytest.mark.parametrize("kind", ["train", "evaluation"])
def test_job_without_loss_or_evaluation_has_failed(tmp_path: Path, kind: str) -> None:
    log = write_metrics(tmp_path, [(kind, {"total_loss": 1.0} if kind == "train" else {MAP: 1.0})])
    with pytest.raises(JobFailed, match=r"metrics.jsonl: has no loss or no evaluation"):
        read_learned(log)


@pytest.mark.parametrize(
    ("goal", "reached", "ok"),
    [
        (LOSS_HALVED, learned(first=4.0, last=2.0), True),
        (LOSS_HALVED, learned(first=4.0, last=2.1), False),
        (LOSS_HALVED, learned(last=float("nan")), False),
        (SHAPES_LEARNED, learned(m=0.60, m50=0.85), True),
        (SHAPES_LEARNED, learned(m=0.59, m50=0.85), False),
        (SHAPES_LEARNED, learned(m=0.60, m50=0.84), False),
    ],
)
def test_goal(goal: Goal, reached: Learned, ok: bool) -> None:
    if ok:
        check("shapes", reached, goal)
    else:
        with pytest.raises(JobFailed, match=r"^shapes: loss .*; expected that "):
            check("shapes", reached, goal)


def test_description_names_what_was_learned() -> None:
    assert describe(learned()) == (
        "loss 4.00 to 1.00, mAP(segm)/IoU=0.5:0.95 0.70, mAP(segm)/IoU=0.5 0.90"
    )


def test_log_is_where_the_launcher_says(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"job_name": "j", "log": "/efs/log-j"}))
    assert find_log(result).root == Path("/efs/log-j")
