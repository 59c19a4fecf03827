"""Figures from what a trainer printed, in the forms of the three that are not ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.report.printed import GRAMMARS, read_printed

GREEN, PLAIN = "\x1b[32m", "\x1b[0m"


def tensorpack(place: str, text: str) -> str:
    """Return a line as tensorpack/utils/logger.py colours it."""
    return f"{GREEN}[1128 12:00:01 @{place}]{PLAIN} {text}"


TENSORPACK = [
    tensorpack("monitor.py:474", "total_cost: 9"),
    tensorpack("base.py:274", "Start Epoch 1 ..."),
    "100%|#####| 500/500 [00:59<00:00, 8.39it/s]",
    tensorpack("base.py:284", "Epoch 1 (global_step 500) finished, time:1 minute."),
    tensorpack("saver.py:82", "Model saved to /log/model-500."),
    tensorpack("monitor.py:474", "learning_rate: 0.01"),
    tensorpack("monitor.py:474", "total_cost: 2.0345"),
    tensorpack("base.py:284", "Epoch 2 (global_step 1000) finished, time:58 seconds."),
    tensorpack("monitor.py:474", "coco_val2017-mAP(segm)/IoU=0.5:0.95: 0.33"),
    tensorpack("monitor.py:474", "learning_rate: 1e-03"),
    tensorpack("monitor.py:474", "total_cost: 1.5"),
    # A rank that was cut off within a line.
    tensorpack("monitor.py:474", "total_cost: "),
]


def info(text: str) -> str:
    """Return a line of mask_rcnn/utils/logging_formatter.py."""
    return f"[MaskRCNN] INFO    : {text}"


TF2 = [
    info("==================================="),
    info("timestamp: 1606572000.5"),
    info("iteration: 5"),
    info("throughput: 31.4 samples/sec"),
    info("Steps - Non Skipped: 5"),
    info("==================== Metrics ====================="),
    info("FastRCNN box loss: 0.25"),
    info("Learning rate: 4.0000e-05"),
    info("Total loss: 3.5"),
    "",
    info("timestamp: 1606572010.5"),
    info("iteration: 10"),
    info("throughput: None"),
    info("Total loss: 2.5"),
    info("Average throughput: 100.0 samples/sec"),
    info("Total processed steps: 462"),
    info("AP: 0.370000000"),
    info("APs: -1.000000000"),
    info("ARmax100: 0.400000000"),
    info("mask_AP50: 0.550000000"),
]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples"])
def test_a_figure_belongs_to_the_step_that_was_told_before_it(
    tmp_path: Path, algorithm: str
) -> None:
    found = read_printed([write(tmp_path / "log", TENSORPACK)], algorithm)
    assert [(p.x, p.mean) for p in found.train["total_cost"]] == [(500, 2.0345), (1000, 1.5)]
    assert [(p.x, p.mean) for p in found.train["learning_rate"]] == [(500, 0.01), (1000, 0.001)]
    assert found.last_evaluation == {"mAP(segm)/IoU=0.5:0.95": 0.33}
    assert (found.last_evaluation_step, found.last_step) == (1000, 1000)


def test_figures_of_tf2_smddp_have_this_projects_names_and_times(tmp_path: Path) -> None:
    found = read_printed([write(tmp_path / "log", TF2)], "tf2-smddp")
    assert [(p.x, p.mean) for p in found.train["total_loss"]] == [(5, 3.5), (10, 2.5)]
    assert [(p.x, p.mean) for p in found.train["images_per_second"]] == [(5, 31.4)]
    assert [(p.x, p.mean) for p in found.train["learning_rate"]] == [(5, 4e-5)]
    assert found.last_evaluation == {
        "mAP(bbox)/IoU=0.5:0.95": 0.37,
        "mAP(bbox)/small": -1.0,
        "mAP(segm)/IoU=0.5": 0.55,
    }
    assert (found.last_step, found.wall_s) == (10, 10.0)
    assert [(p.x, p.mean) for p in found.step_s] == [(10, 2.0)]
    assert not {"timestamp", "iteration", "Total processed steps"} & found.train.keys()


def test_the_first_file_with_figures_counts(tmp_path: Path) -> None:
    files = [
        tmp_path / "absent",
        write(tmp_path / "rank-0.log", ["nothing of the kind: 1"]),
        write(tmp_path / "launcher.log", TF2),
        write(tmp_path / "other.log", TF2[:9]),
    ]
    assert read_printed(files, "tf2-smddp").last_step == 10


def test_lines_of_another_algorithm_are_none(tmp_path: Path) -> None:
    file = write(tmp_path / "log", TENSORPACK)
    for algorithm in ("tf2-smddp", "horovod", "None", ""):
        assert read_printed([file], algorithm).last_step is None


def test_ours_writes_a_file_and_needs_no_grammar() -> None:
    from training.algorithms import NAMES

    assert set(GRAMMARS) == set(NAMES) - {"horovod"}
