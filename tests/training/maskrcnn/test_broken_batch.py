from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from training.errors import JobFailed
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.broken_batch import read_broken_batch, save_broken_batch
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.loader import load_batches
from training.maskrcnn.model.maskrcnn import build_model


def test_a_saved_batch_comes_back_whole(shapes: TrainChannel, tiny: Any, tmp_path: Path) -> None:
    hyperparameters = tiny()
    data = read_collection(shapes, hyperparameters)
    batch = next(
        load_batches(data.train, hyperparameters, rank=0, size=1, local_size=1, position=0)
    )
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    path = LogChannel(tmp_path / "log").rank_batch(3)
    said = save_broken_batch(
        path,
        [batch],
        model=model,
        hyperparameters=hyperparameters,
        counts={"maskrcnn_loss/maskrcnn_loss": 12.0},
        problem="why",
    )
    assert path.name == "broken-batch-rank-3.pt"
    assert said.endswith(f"python -m training.maskrcnn.replay {path}")
    broken = read_broken_batch(path)
    (kept,) = broken.batches
    assert torch.equal(kept.pixels, batch.pixels)
    assert (kept.sizes, kept.names) == (batch.sizes, batch.names)
    for mine, theirs in zip(kept.targets, batch.targets, strict=True):
        assert torch.equal(mine.boxes, theirs.boxes)
        assert torch.equal(mine.masks.whole(), theirs.masks.whole())
        assert mine.seed == theirs.seed
    assert torch.equal(
        broken.weights["rpn.head.cls_logits.weight"], model.rpn.head.cls_logits.weight
    )
    assert broken.categories == 4
    assert broken.hyperparameters == hyperparameters
    assert broken.counts == {"maskrcnn_loss/maskrcnn_loss": 12}
    assert broken.problem == "why"


def test_where_it_cannot_be_written_the_cause_is_told_and_nothing_raised(
    tiny: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    model = build_model(tiny(), categories=4, sum_over_ranks=lambda tensor: tensor)
    said = save_broken_batch(
        tmp_path / "file" / "batch.pt",
        [],
        model=model,
        hyperparameters=tiny(),
        counts={},
        problem="why",
    )
    assert said.startswith("The batch could not be saved")
    assert "Not a directory" in said or "File exists" in said


@pytest.mark.parametrize("content", [b"", b"text", b"{}", None, [Path()]])
def test_another_file_is_refused_in_one_line(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "batch.pt"
    if content is None:
        torch.save({"model": {}}, path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)
    with pytest.raises(JobFailed, match=r"batch.pt: not a batch that the trainer saved") as failed:
        read_broken_batch(path)
    for word in ("\n", "\x1b", "weights_only", "KeyError"):
        assert word not in str(failed.value)
