"""Weights that a job begins with."""

from __future__ import annotations

from pathlib import Path

from training.layout import TrainChannel
from training.preflight.weights import find


def test_a_file_in_the_channel_or_elsewhere_is_found(tmp_path: Path) -> None:
    channel = TrainChannel(tmp_path / "train")
    channel.pretrained_models.mkdir(parents=True)
    (channel.pretrained_models / "r50.pth").write_bytes(b"")
    elsewhere = tmp_path / "model.pt"
    elsewhere.write_bytes(b"")
    files = {"backbone_weights": "r50.pth", "load_model": str(elsewhere)}
    assert list(find(channel, files)) == []


def test_a_missing_file_is_named_with_where_it_was_looked_for(tmp_path: Path) -> None:
    (finding,) = find(TrainChannel(tmp_path), {"load_model": "gone.pt"})
    assert finding.code == "weights-missing"
    assert finding.path == "hyperparameters.load_model"
    assert str(tmp_path / "pretrained-models/gone.pt") in finding.message
    assert finding.message.endswith(": python -m training.data download DIR --what pretrained")
