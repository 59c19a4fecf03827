from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from training.layout import LogChannel, TrainChannel
from training.maskrcnn.data.coco import Split, read_split
from training.maskrcnn.found import Found
from training.maskrcnn.metrics import FileRecorder, NullRecorder
from training.maskrcnn.showcase import GAP, drawn_pictures


def nothing_found() -> Found:
    return Found.from_coco([])


def truth_as_found(split: Split, score: float) -> Found:
    ids = list(split.categories)
    return Found.from_coco(
        [
            {
                "image_id": record.image_id,
                "category_id": ids[label - 1],
                "bbox": [left, top, right - left, bottom - top],
                "score": score,
            }
            for record in split.records
            for label, (left, top, right, bottom) in zip(
                record.labels.tolist(), record.boxes.tolist(), strict=True
            )
        ],
        with_masks=False,
    )


def halves(pixels: Any) -> tuple[Any, Any]:
    width = (pixels.shape[1] - GAP) // 2
    return pixels[:, :width].astype(int), pixels[:, width + GAP :].astype(int)


def test_truth_is_at_the_left_and_what_was_predicted_at_the_right(shapes: TrainChannel) -> None:
    split = read_split(shapes, "val2017")
    (_, empty), *_ = drawn_pictures(split, nothing_found(), count=1)
    (_, weak), *_ = drawn_pictures(split, truth_as_found(split, 0.3), count=1)
    (name, full), *_ = drawn_pictures(split, truth_as_found(split, 0.9), count=1)
    record = next(record for record in split.records if record.name == name)
    photo = np.asarray(Image.open(record.file).convert("RGB").resize((250, 250)), dtype=int)
    assert np.array_equal(halves(empty)[1], photo)
    assert np.array_equal(halves(weak)[1], photo)
    assert not np.array_equal(halves(full)[1], photo)
    for drawn in (empty, full):
        assert np.abs(halves(drawn)[0] - photo).max() > 60
    assert np.array_equal(halves(empty)[0], halves(full)[0])


def test_pictures_with_objects_are_taken_and_always_the_same(shapes: TrainChannel) -> None:
    split = read_split(shapes, "train2017")
    with_objects = [record.name for record in split.records if len(record.labels)]
    names = [name for name, _ in drawn_pictures(split, nothing_found(), count=5)]
    assert len(set(names)) == 5
    assert set(names) <= set(with_objects)
    assert names == [name for name, _ in drawn_pictures(split, nothing_found(), count=5)]
    everything = [name for name, _ in drawn_pictures(split, nothing_found(), count=64)]
    assert everything == [record.name for record in split.records.with_objects()]
    assert list(drawn_pictures(split, nothing_found(), count=0)) == []


def test_tensorboard_gets_them_after_each_evaluation(one_rank: Any) -> None:
    events = EventAccumulator(str(one_rank.channel.events), size_guidance={"images": 0})
    events.Reload()
    tags = events.Tags()["images"]
    assert 1 <= len(tags) <= 4
    assert all(tag.startswith("val2017/") for tag in tags)
    (shown,) = events.Images(tags[0])
    assert shown.step == 12
    image = Image.open(io.BytesIO(shown.encoded_image_string))
    assert image.size == (shown.width, shown.height) == (2 * 250 + GAP, 250)


def test_a_silent_recorder_draws_nothing(tmp_path: Path) -> None:
    drawn: list[int] = []

    def pictures() -> Any:
        drawn.append(1)
        yield "a.jpg", np.zeros((4, 6, 3), np.uint8)

    NullRecorder().show("val2017", pictures(), step=1)
    assert not drawn
    recorder = FileRecorder(LogChannel(tmp_path), step=0)
    recorder.show("val2017", pictures(), step=1)
    recorder.close()
    assert drawn == [1]
