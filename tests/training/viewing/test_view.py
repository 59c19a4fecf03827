"""What a notebook is shown of a log: charts, and pictures with what was detected."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.training.maskrcnn.tiny_job import TINY
from training.layout import TrainChannel
from training.maskrcnn.hyperparameters import read_hyperparameters
from training.maskrcnn.model.maskrcnn import build_model
from training.maskrcnn.model_file import TrainedModel, save_model
from training.told import Told
from training.viewing import look

COCO = TrainChannel(Path(__file__).parents[2] / "data/coco")


def pictures_in(html: str) -> list[Image.Image]:
    found = re.findall(r"data:image/webp;base64,([A-Za-z0-9+/=]+)", html)
    return [Image.open(io.BytesIO(base64.b64decode(each))) for each in found]


def halves(picture: Image.Image) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the truth's half and the other one."""
    pixels = np.asarray(picture.convert("RGB"), np.int16)
    width = (pixels.shape[1] - 8) // 2
    return pixels[:, :width], pixels[:, -width:]


def tensorpack_log(folder: Path, detections: list[dict[str, Any]]) -> Path:
    attempt = folder / "checkpoints/attempt-1"
    attempt.mkdir(parents=True)
    entry = {"epoch_num": 1, "global_step": 100, "total_cost": 1.0, "mAP(segm)/IoU=0.5:0.95": 0.25}
    (attempt / "stats.json").write_text(json.dumps([entry]))
    (attempt / "coco_val2017-outputs100.json").write_text(json.dumps(detections))
    return folder


def true_detections() -> list[dict[str, Any]]:
    """Return the truth of val2017 as a perfect model would detect it."""
    from pycocotools import coco

    reader = coco.COCO(COCO.annotations("val2017"))
    found = []
    for one in reader.dataset["annotations"]:
        if not one["iscrowd"]:
            rle = reader.annToRLE(one)
            rle["counts"] = rle["counts"].decode()
            kept = {key: one[key] for key in ("image_id", "category_id", "bbox")}
            found.append({**kept, "segmentation": rle, "score": 0.9})
    return found


def test_metrics_are_charts_in_a_frame_that_runs_no_script(tmp_path: Path) -> None:
    html = look(tensorpack_log(tmp_path, [])).metrics()._repr_html_()
    assert html.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert " sandbox " in html
    assert "0.250" in html
    assert "&lt;svg" in html
    assert "script" not in html


def test_what_tensorpacks_last_evaluation_left_is_shown_beside_the_truth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = look(tensorpack_log(tmp_path, true_detections()))
    shown = pictures_in(view.pictures(COCO.root)._repr_html_())
    assert "detections of step 100" in capsys.readouterr().out
    assert len(shown) == 2
    for picture in shown:
        truth, detected = halves(picture)
        # The same masks and boxes on both sides; the labels differ by the score.
        assert np.mean(np.abs(truth - detected).max(axis=2) < 40) > 0.9


def test_without_detections_the_right_side_is_the_bare_picture(tmp_path: Path) -> None:
    shown = pictures_in(look(tensorpack_log(tmp_path, [])).pictures(COCO.root)._repr_html_())
    truth, detected = halves(shown[0])
    assert np.mean(np.abs(truth - detected).max(axis=2) < 40) < 0.9


def untrained_checkpoint(path: Path) -> None:
    """Write a tiny model's first weights as a checkpoint has them."""
    hyperparameters = read_hyperparameters(TINY, source="test")
    names = COCO_CATEGORIES
    model = build_model(hyperparameters, categories=len(names), sum_over_ranks=lambda one: one)
    path.parent.mkdir(parents=True)
    save_model(path, TrainedModel(model, hyperparameters, names))


COCO_CATEGORIES = {
    entry["id"]: entry["name"]
    for entry in json.loads(COCO.annotations("val2017").read_text())["categories"]
}


def test_the_newest_checkpoint_detects_and_a_damaged_one_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "checkpoints/step-00000012.pt"
    untrained_checkpoint(whole)
    newest = tmp_path / "checkpoints/step-00000099.pt"
    newest.write_bytes(b"cut off")

    html = look(tmp_path).pictures(COCO.root, count=1)._repr_html_()

    assert len(pictures_in(html)) == 1
    said = capsys.readouterr().out
    assert f"passed over: {newest}" in said
    assert f"model: {whole}, on cpu" in said
    assert "1 of 1: " in said


def test_what_is_missing_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").touch()
    with pytest.raises(Told, match="there is no checkpoint yet"):
        look(tmp_path).pictures(COCO.root)
    left = tensorpack_log(tmp_path / "log", [])
    (left / "checkpoints/attempt-1/coco_val2017-outputs100.json").unlink()
    with pytest.raises(Told, match="no evaluation has left its detections there"):
        look(left).pictures(COCO.root)
    with pytest.raises(Told, match="instances_val2017"):
        look(tensorpack_log(tmp_path / "other", [])).pictures(tmp_path / "absent")
