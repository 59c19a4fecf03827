from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data.batch import Picture, collate
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.dataset import EvaluationPictures, TrainingPictures
from training.maskrcnn.data.sampler import Draw

Annotation = Callable[..., dict[str, Any]]


def load(channel: TrainChannel, hyperparameters: Any, draw: Draw) -> Picture:
    data = read_collection(channel, hyperparameters)
    return TrainingPictures(data.train, hyperparameters)[draw]


@pytest.mark.parametrize("flip_probability", [0, 1])
def test_boxes_and_masks_follow_the_picture(
    coco_set: Any, annotation: Annotation, tiny: Any, flip_probability: int
) -> None:
    channel = coco_set.write([annotation()])
    hyperparameters = tiny(
        data_val="train2017",
        flip_probability=flip_probability,
        image_short_sides=40,
        image_max_side=80,
    )
    picture = load(channel, hyperparameters, Draw(0, 0))
    assert picture.pixels.shape == (3, 40, 80)
    left = 80 - 36 if flip_probability else 20
    assert picture.target.boxes.tolist() == [[left, 10, left + 16, 26]]
    rows, columns = np.nonzero(picture.target.masks.whole()[0].numpy())
    assert (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) == (
        left,
        10,
        left + 16,
        26,
    )


def test_a_draw_gives_the_same_picture_each_time_and_another_in_the_next_pass(
    shapes: TrainChannel, tiny: Any
) -> None:
    hyperparameters = tiny(image_short_sides=[32, 48, 64], image_max_side=64)
    first, again, later = (
        [load(shapes, hyperparameters, Draw(record, data_pass)) for record in range(6)]
        for data_pass in (0, 0, 1)
    )
    assert [p.target.seed for p in first] == [p.target.seed for p in again]
    assert all(torch.equal(a.pixels, b.pixels) for a, b in zip(first, again, strict=True))
    assert [p.pixels.shape for p in first] != [p.pixels.shape for p in later]
    assert not {p.target.seed for p in first} & {p.target.seed for p in later}


def test_the_short_side_is_one_of_a_list_or_any_of_a_range(shapes: TrainChannel, tiny: Any) -> None:
    def short_sides(**changes: Any) -> list[int]:
        hyperparameters = tiny(image_max_side=64, **changes)
        data = read_collection(shapes, hyperparameters).train
        pictures = TrainingPictures(data, hyperparameters)
        return [
            min(pictures[Draw(record, turn)].pixels.shape[1:])
            for turn in range(8)
            for record in range(16)
        ]

    assert set(short_sides(image_short_sides=[40, 56, 44])) == {40, 44, 56}
    assert set(short_sides(image_short_sides=[40, 44], short_side_sampling="range")) == {
        *range(40, 45)
    }
    evaluated = EvaluationPictures(
        read_collection(shapes, tiny()).train,
        tiny(image_short_sides=[40, 44], short_side_sampling="range"),
    )
    assert min(evaluated[0][1].shape[1:]) == 44


def test_the_copies_of_a_repeated_picture_differ(shapes: TrainChannel, tiny: Any) -> None:
    hyperparameters = tiny(image_short_sides=[32, 64], short_side_sampling="range")
    one, other = (load(shapes, hyperparameters, Draw(3, 0, copy)) for copy in (0, 1))
    assert one.image_id == other.image_id
    assert one.target.seed != other.target.seed
    assert one.pixels.shape != other.pixels.shape


def test_crowd_regions_are_no_objects(coco_set: Any, annotation: Annotation, tiny: Any) -> None:
    crowd = annotation(iscrowd=1, segmentation={"size": [20, 40], "counts": [0, 800]})
    channel = coco_set.write([crowd])
    hyperparameters = tiny(data_val="train2017", empty_pictures="train", flip_probability=0)
    target = load(channel, hyperparameters, Draw(0, 0)).target
    assert target.boxes.shape == (0, 4)
    assert target.masks.whole().shape == (0, 32, 64)
    assert target.crowds.tolist() == pytest.approx(np.array([[16, 8, 28.8, 20.8]]))


def test_a_broken_picture_is_replaced_and_told(
    coco_set: Any, annotation: Annotation, tiny: Any
) -> None:
    channel = coco_set.write([annotation(), annotation(image_id=2)])
    (channel.images("train2017") / "1.jpg").write_bytes(b"oops")
    picture = load(channel, tiny(data_val="train2017"), Draw(0, 0))
    assert picture.image_id == 2
    (told,) = picture.broken
    assert "1.jpg" in told


def test_nothing_but_broken_pictures_end_the_run(
    coco_set: Any, annotation: Annotation, tiny: Any
) -> None:
    channel = coco_set.write([annotation(), annotation(image_id=2)])
    for file in channel.images("train2017").iterdir():
        file.write_bytes(b"oops")
    with pytest.raises(JobFailed, match=r"max_broken_pictures 3 .*[12]\.jpg"):
        load(channel, tiny(data_val="train2017", max_broken_pictures=3), Draw(0, 0))


def test_a_batch_pads_pictures_at_the_right_and_the_bottom(shapes: TrainChannel, tiny: Any) -> None:
    small, large = (
        load(shapes, tiny(image_short_sides=side, image_max_side=64), Draw(0, 0))
        for side in (40, 64)
    )
    batch = collate([small, large])
    assert batch.pixels.shape == (2, 3, 64, 64)
    assert batch.sizes == ((40, 40), (64, 64))
    assert torch.equal(batch.pixels[0, :, :40, :40], small.pixels)
    assert batch.pixels[0, :, 40:].sum() == batch.pixels[0, :, :, 40:].sum() == 0


@pytest.mark.parametrize(("multiple", "padded"), [(32, (64, 96)), (128, (128, 128))])
def test_a_batch_is_padded_to_a_multiple(
    tiny: Any, shapes: TrainChannel, multiple: int, padded: tuple[int, int]
) -> None:
    pixels = torch.full((3, 50, 70), 9, dtype=torch.uint8)
    picture = replace(load(shapes, tiny(), Draw(0, 0)), pixels=pixels)
    batch = collate([picture], multiple=multiple)
    assert batch.pixels.shape[2:] == padded
    assert batch.pixels.sum() == 9 * 3 * 50 * 70
