"""Pictures of every odd kind, through a whole run, and by what the network is given of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data.batch import Batch, Picture, collate
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.dataset import TrainingPictures
from training.maskrcnn.data.sampler import Draw
from training.maskrcnn.model.losses import LOSSES
from training.maskrcnn.model.maskrcnn import build_model

Annotation = Callable[..., dict[str, Any]]
ORANGE = (200, 120, 40)


def square(left: float, top: float, side: float, **changes: Any) -> dict[str, Any]:
    """Return an annotation of a square."""
    right, bottom = left + side, top + side
    return {
        "bbox": [left, top, side, side],
        "area": side * side,
        "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
        "category_id": 3,
        "iscrowd": 0,
        **changes,
    }


def crowd(**changes: Any) -> dict[str, Any]:
    runs = {"size": [20, 40], "counts": [0, 400, 400]}
    return square(0, 0, 20, iscrowd=1, segmentation=runs, **changes)


OBJECTS: dict[str, list[dict[str, Any]]] = {
    "nothing": [],
    "one crowd": [crowd()],
    "three crowds": [crowd(), crowd(), crowd()],
    "a pixel": [square(10, 5, 1)],
    "a pixel in each corner": [square(x, y, 1) for x in (0, 39) for y in (0, 19)],
    "less than a pixel": [square(10.3, 5.3, 0.3)],
    "the whole frame": [square(0, 0, 20), square(20, 0, 20)],
    "an object and a crowd": [square(10, 5, 8), crowd()],
    "500 objects": [square(x / 4, y, 2) for y in range(0, 15, 3) for x in range(100)],
    "the same twice": [square(10, 5, 8), square(10, 5, 8, category_id=7)],
}


@pytest.fixture
def write(coco_set: Any) -> Callable[..., TrainChannel]:
    """Write a picture for each list of annotations."""

    def write(*pictures: list[dict[str, Any]]) -> TrainChannel:
        everything = [
            {**found, "image_id": image_id}
            for image_id, of_picture in enumerate(pictures, start=1)
            for found in of_picture
        ]
        numbered = [{**found, "id": number} for number, found in enumerate(everything, start=1)]
        channel: TrainChannel = coco_set.write(numbered, pictures=len(pictures))
        return channel

    return write


@pytest.fixture
def odd(tiny: Any) -> Any:
    """Hyperparameters that take every picture."""
    return tiny(data_val="train2017", empty_pictures="train", batch_size_per_gpu=2)


def load(channel: TrainChannel, hyperparameters: Any) -> list[Picture]:
    records = read_collection(channel, hyperparameters).train
    pictures = TrainingPictures(records, hyperparameters)
    return [pictures[Draw(place, 0)] for place in range(len(records))]


@pytest.mark.parametrize("objects", OBJECTS.values(), ids=OBJECTS)
def test_any_objects_give_finite_losses_and_gradients(
    write: Any, odd: Any, objects: list[dict[str, Any]]
) -> None:
    channel = write(objects, [square(10, 5, 8)])
    batch = collate(load(channel, odd))
    wanted = [found for found in objects if not found["iscrowd"]]
    target = batch.targets[0]
    assert target.boxes.shape == (len(wanted), 4)
    assert len(target.masks) == len(target.labels) == len(wanted)
    assert target.crowds.shape == (len(objects) - len(wanted), 4)
    for share in (batch, only_first(batch)):
        assert_learns(odd, share)


def only_first(batch: Batch) -> Batch:
    """Return the batch of a rank that has but the odd picture."""
    return Batch(
        pixels=batch.pixels[:1],
        sizes=batch.sizes[:1],
        targets=batch.targets[:1],
        names=batch.names[:1],
        broken=(),
    )


def assert_learns(hyperparameters: Any, batch: Batch) -> None:
    torch.manual_seed(0)
    model = build_model(hyperparameters, categories=2, sum_over_ranks=lambda tensor: tensor)
    ratios = model(batch.pixels, batch.sizes, batch.targets)
    assert isinstance(ratios, dict)
    for name, ratio in ratios.items():
        assert math.isfinite(float(ratio.sum.detach())), name
    torch.stack([ratios[name].sum for name in LOSSES]).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


def test_boxes_of_a_pixel_are_scaled_with_their_picture(write: Any, tiny: Any) -> None:
    hyperparameters = tiny(data_val="train2017", flip_probability=0)
    (picture,) = load(write([square(10, 5, 1)]), hyperparameters)
    assert picture.target.boxes.tolist() == [pytest.approx([16, 8, 17.6, 9.6])]
    assert picture.target.masks.whole()[0].nonzero().tolist() == [
        [8, 16],
        [8, 17],
        [9, 16],
        [9, 17],
    ]


def test_500_objects_are_500_targets_each_with_its_own_mask(write: Any, tiny: Any) -> None:
    hyperparameters = tiny(
        data_val="train2017", flip_probability=0, image_short_sides=20, image_max_side=40
    )
    (picture,) = load(write(OBJECTS["500 objects"]), hyperparameters)
    target = picture.target
    assert target.boxes.shape == (500, 4)
    assert target.boxes[1].tolist() == [0.25, 0, 2.25, 2]
    whole = target.masks.whole()
    assert whole.shape == (500, 20, 40)
    assert whole[::4].sum(dim=(1, 2)).tolist() == [4] * 125
    assert whole[400, 12:14, 0:2].all()


def paint(mode: str) -> Image.Image:
    """Return an orange picture of 40 x 20 in a mode, or what the mode makes of it."""
    if mode == "palette with a transparent entry":
        image = Image.new("RGB", (40, 20), ORANGE).convert("P", palette=Image.Palette.ADAPTIVE)
        image.info["transparency"] = 0
        return image
    return Image.new("RGB", (40, 20), ORANGE).convert(mode)


GREY = round(0.299 * ORANGE[0] + 0.587 * ORANGE[1] + 0.114 * ORANGE[2])


@pytest.mark.parametrize(
    ("mode", "kind", "colour"),
    [
        ("RGB", "JPEG", ORANGE),
        ("L", "JPEG", (GREY,) * 3),
        ("CMYK", "JPEG", ORANGE),
        ("CMYK", "TIFF", ORANGE),
        ("YCbCr", "JPEG", ORANGE),
        ("L", "PNG", (GREY,) * 3),
        ("LA", "PNG", (GREY,) * 3),
        ("RGBA", "PNG", ORANGE),
        ("P", "PNG", None),
        ("palette with a transparent entry", "PNG", ORANGE),
        ("P", "GIF", None),
        ("RGB", "WEBP", ORANGE),
        ("RGB", "BMP", ORANGE),
        ("1", "PNG", None),
    ],
)
def test_every_kind_of_picture_gives_its_colours(
    write: Any, odd: Any, mode: str, kind: str, colour: tuple[int, ...] | None
) -> None:
    """Without a colour: what Pillow's palette of 216 colours, or black and white, has near it."""
    channel = write([square(10, 5, 8)])
    painted = paint(mode)
    painted.save(channel.images("train2017") / "1.jpg", format=kind)
    (picture,) = load(channel, odd)
    assert picture.broken == ()
    assert picture.pixels.shape == (3, 32, 64)
    expected = colour or np.asarray(painted.convert("RGB")).mean(axis=(0, 1))
    means = picture.pixels.float().mean(dim=(1, 2))
    assert means.tolist() == pytest.approx(list(expected), abs=3)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_with_an_exif_turn_is_taken_as_it_is_stored(
    write: Any, tiny: Any, orientation: int
) -> None:
    """COCO's annotations belong to the stored pixels."""
    channel = write([square(0, 0, 8)])
    stored = np.zeros((20, 40, 3), np.uint8)
    stored[:8, :8] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = channel.images("train2017") / "1.jpg"
    Image.fromarray(stored).save(file, exif=exif, quality=100)
    (picture,) = load(channel, tiny(data_val="train2017", flip_probability=0))
    whole = picture.target.masks.whole()[0].bool()
    assert whole.sum() > 100
    assert picture.pixels[:, whole].float().mean() > 200
    assert picture.pixels[:, ~whole].float().mean() < 20


def test_a_picture_of_16_bits_is_refused_with_the_way_out(write: Any, odd: Any) -> None:
    channel = write([square(10, 5, 8)], [square(10, 5, 8)])
    deep = Image.new("I;16", (40, 20), 40_000)
    deep.save(channel.images("train2017") / "1.jpg", format="PNG")
    first, _ = load(channel, odd)
    (told,) = first.broken
    assert "1.jpg" in told
    assert "more than 8 bits a value" in told
    assert "check --fix scales it" in told
    assert first.image_id == 2


def test_a_run_over_all_of_them_ends_well_and_names_what_it_left_out(
    write: Any, odd: Any, train_in_process: Any, tmp_path: Any, capsys: Any
) -> None:
    channel = write(*OBJECTS.values(), [square(10, 5, 8)], [square(10, 5, 8)])
    folder = channel.images("train2017")
    whole = (folder / "11.jpg").read_bytes()
    (folder / "11.jpg").write_bytes(whole[: len(whole) - 40])
    for number, mode in enumerate(("L", "CMYK", "RGBA"), start=1):
        paint(mode).save(folder / f"{number}.jpg", format="TIFF")
    hyperparameters = odd.model_copy(update={"images_per_epoch": 12, "max_broken_pictures": 1})
    run = train_in_process(channel, tmp_path / "log", hyperparameters)
    assert run.ending == "completed"
    losses = run.train_values("total_loss")
    assert list(losses) == [1, 2, 3, 4, 5, 6]
    assert all(math.isfinite(loss) and loss > 0 for loss in losses.values())
    told = capsys.readouterr().err.replace("\n", "")
    assert told.count("picture left out: image 11") == 1
    refusing = hyperparameters.model_copy(update={"max_broken_pictures": 0})
    with pytest.raises(JobFailed, match=r"11\.jpg"):
        train_in_process(channel, tmp_path / "log2", refusing)


def test_a_run_that_detects_nothing_goes_on(
    write: Any, odd: Any, train_in_process: Any, tmp_path: Any
) -> None:
    channel = write([square(10, 5, 8)], [])
    blind = odd.model_copy(update={"images_per_epoch": 4, "score_threshold": 1.0})
    run = train_in_process(channel, tmp_path / "log", blind)
    assert run.ending == "completed"
    (values,) = [line["values"] for line in run.lines() if line["kind"] == "evaluation"]
    assert values["mAP(segm)/IoU=0.5:0.95"] == 0
    assert values["mAP(bbox)/large"] == -1
