"""Whole runs with a moving average of the weights."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch

from training.layout import LogChannel, TrainChannel


def test_a_resumed_run_has_the_average_of_the_unbroken_one_bit_for_bit(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, train_in_process: Any
) -> None:
    hyperparameters = tiny(
        ema_decay=0.9,
        optimizer="lars",
        accumulation_steps=2,
        batch_size_per_gpu=2,
        images_per_epoch=16,
        checkpoint_period=2,
    )
    whole = train_in_process(shapes, tmp_path / "whole", hyperparameters)
    shutil.copytree(tmp_path / "whole", tmp_path / "resumed")
    channel = LogChannel(tmp_path / "resumed")
    for name in ("step-00000004.pt", "step-00000004.pt.sha256"):
        (channel.checkpoints / name).unlink()
    channel.model.unlink()
    resumed = train_in_process(shapes, tmp_path / "resumed", hyperparameters)
    last = torch.load(whole.channel.checkpoints / "step-00000004.pt", weights_only=True)
    averages = last["stepper"]["average"]["weights"]
    assert averages
    for name, weight in whole.weights().items():
        assert torch.equal(weight, resumed.weights()[name]), name
        assert torch.equal(weight, averages.get(name, last["model"][name])), name
    assert any(not torch.equal(averages[name], last["model"][name]) for name in averages)
