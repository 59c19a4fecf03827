from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from training.errors import JobFailed, UsageError
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.replay import app


def test_a_run_that_diverges_leaves_a_batch_that_shows_it_again(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, train_in_process: Callable[..., Any]
) -> None:
    log = LogChannel(tmp_path / "log")
    with pytest.raises(JobFailed, match="is not finite") as failed:
        train_in_process(shapes, log.root, tiny(base_learning_rate=1e12, warmup_steps=0))
    path = log.rank_batch(0)
    assert f"python -m training.maskrcnn.replay {path}" in str(failed.value)

    done = CliRunner().invoke(app, [str(path), "--format", "json", "--device", "cpu"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["problem"] in str(failed.value)
    assert not report["together"][0]["is_finite"]
    assert len(report["pictures"]) == 4
    # Steps that large drove the weights away: no picture is to be blamed.
    assert report["largest_weight"] > 1e3
    assert report["verdict"].startswith("The weights are the cause, not the annotations")
    assert "lower base_learning_rate" in report["verdict"]

    text = CliRunner().invoke(app, [str(path), "--precision", "bf16"])
    assert text.exit_code == 0, text.output
    assert "NOT FINITE" in text.stdout
    assert "rpn_losses/label_loss" in text.stdout
    assert f"largest weight: {report['largest_weight']} in " in text.stdout


def test_wrong_usage_ends_with_2_before_anything_is_read(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [str(tmp_path / "none.pt")])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == f"{tmp_path / 'none.pt'}: no such file"
    done = CliRunner().invoke(app, [str(tmp_path)])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == f"{tmp_path}: a folder, not broken-batch-rank-N.pt"
