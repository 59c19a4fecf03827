"""What the adapters look for and what they leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docker.adapters.loading import FOLDERS, adapter, give_backbone, job, touch_checkpoint

from entrypoint import tf_checkpoints  # isort: skip  (docker/ is on the path by now)
from entrypoint.adapter_error import AdapterError  # isort: skip


@pytest.mark.parametrize("folder", ["tensorpack", "aws-samples"])
def test_missing_weights_stop_the_job_before_its_ranks_start(folder: str, tmp_path: Path) -> None:
    own = adapter(folder)
    weights = tmp_path / "pretrained-models" / "ImageNet-R50-AlignPadding.npz"
    with pytest.raises(AdapterError, match=f"backbone_weights: {weights}: no such file"):
        own.prepare(job(folder, data=tmp_path))
    weights.parent.mkdir()
    weights.touch()
    own.prepare(job(folder, data=tmp_path))
    with_model = {"load_model": "COCO/model-360000"}
    with pytest.raises(AdapterError, match="load_model"):
        own.prepare(job(folder, data=tmp_path, hyperparameters=with_model))
    touch_checkpoint(tmp_path / "pretrained-models" / "COCO", "model-360000")
    own.prepare(job(folder, data=tmp_path, hyperparameters=with_model))


def test_tf2_smddp_names_the_folder_without_a_checkpoint(tmp_path: Path) -> None:
    own = adapter("tf2-smddp")
    with pytest.raises(AdapterError, match="resnet-nhwc-2018-02-07: no checkpoint of TensorFlow"):
        own.prepare(job("tf2-smddp", data=tmp_path))
    give_backbone(tmp_path)
    own.prepare(job("tf2-smddp", data=tmp_path))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_model_is_the_newest_checkpoint(folder: str, tmp_path: Path) -> None:
    own = adapter(folder)
    assert own.model_files(job(folder, log=tmp_path)) == []
    attempt = tmp_path / "checkpoints" / "attempt-1"
    for step in (9, 10, 100):
        touch_checkpoint(attempt, f"model-{step}")
    (attempt / "checkpoint").touch()
    files = [Path(path).name for path in own.model_files(job(folder, log=tmp_path))]
    assert files[:2] == ["model-100.index", "model-100.data-00000-of-00001"]
    assert not any(name.startswith(("model-9.", "model-10.")) for name in files)


def test_metrics_and_graph_go_with_the_model(tmp_path: Path) -> None:
    attempt = tmp_path / "checkpoints" / "attempt-2"
    touch_checkpoint(attempt, "model-8")
    for name in ("stats.json", "events.out.tfevents.1", "graph-1128-1200.meta", "log.log"):
        (attempt / name).touch()
    files = [
        Path(p).name for p in adapter("tensorpack").model_files(job("tensorpack", log=tmp_path))
    ]
    assert files[2:] == ["stats.json", "events.out.tfevents.1", "graph-1128-1200.meta"]


def test_a_checkpoint_without_all_its_files_is_not_gone_on_from(tmp_path: Path) -> None:
    attempt = tmp_path / "checkpoints" / "attempt-1"
    touch_checkpoint(attempt, "model-100")
    (attempt / "model-200.index").touch()
    (attempt / "model-300.data-00000-of-00001").touch()
    (attempt / "model-400.index").touch()
    (attempt / "model-400.data-00000-of-00002").touch()
    (attempt / "model-500.index.tempstate1").touch()
    newest = tf_checkpoints.newest(str(tmp_path))
    assert newest is not None
    assert newest.prefix == str(attempt / "model-100")


def test_a_checkpoint_in_several_pieces_is_whole_with_all_of_them(tmp_path: Path) -> None:
    attempt = tmp_path / "checkpoints" / "attempt-1"
    touch_checkpoint(attempt, "model-1")
    (attempt / "model-7.index").touch()
    for piece in range(2):
        (attempt / f"model-7.data-{piece:05d}-of-00002").touch()
    newest = tf_checkpoints.newest(str(tmp_path))
    assert newest is not None
    assert newest.step == 7
    assert len(newest.files) == 3


def test_of_the_same_step_the_later_attempt_counts(tmp_path: Path) -> None:
    for attempt in (2, 10):
        touch_checkpoint(tmp_path / "checkpoints" / f"attempt-{attempt}", "model-5")
    newest = tf_checkpoints.newest(str(tmp_path))
    assert newest is not None
    assert "attempt-10" in newest.prefix
    assert tf_checkpoints.next_attempt(str(tmp_path)).endswith("attempt-11")


def test_folders_with_signs_of_patterns_in_their_names_are_taken_as_they_are(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log-[1]*?"
    touch_checkpoint(log / "checkpoints" / "attempt-1", "model-3")
    newest = tf_checkpoints.newest(str(log))
    assert newest is not None
    assert newest.step == 3
