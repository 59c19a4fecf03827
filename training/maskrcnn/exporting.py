"""Exporting a trained model to a file of its own, and proof that the file does the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from training.data.scene import draw_scene
from training.errors import JobFailed
from training.maskrcnn.data.batch import STRIDE
from training.maskrcnn.data.pictures import BrokenPicture, resize
from training.maskrcnn.deployed import DeployedMaskRCNN, Outputs
from training.maskrcnn.export_formats import (
    LEAST_SIDE,
    MOST_SIDE,
    OUTPUTS,
    ExportFormat,
    Run,
)
from training.maskrcnn.files import write_result
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model_file import TrainedModel
from training.maskrcnn.photos import Opening, Photo

TOLERANCES: Mapping[str, float] = {"boxes": 0.05, "labels": 0, "scores": 1e-3, "masks": 1e-2}
"""Largest difference from the model itself: boxes in pixels, the others as they are. Kernels that
add up in another order differ by a thousandth of that."""

SCENE = 1
"""Seed of the drawn shapes, of which some have objects of several kinds."""

Size = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written and how well it does."""

    file: str
    size_bytes: int
    detections: int
    """In the sample picture."""
    differences: Mapping[str, float]
    """The largest ones, by output; empty without detections."""


def read_sample(path: Path | None, hyperparameters: Hyperparameters) -> Tensor:
    """Return a picture as the model takes it, (3, H, W) uint8; without a file, drawn shapes.

    Raises:
        JobFailed: The file is no picture.
    """
    short_side, max_side = max(hyperparameters.image_short_sides), hyperparameters.image_max_side
    if path is None:
        scene = draw_scene(np.random.default_rng(SCENE), short_side).picture
        side = min(short_side, max_side)
        return resize(np.clip(scene, 0, 255).astype(np.uint8), (side, side))
    opening, photo = Opening.of(hyperparameters, as_stored=False), Photo(path, path.name)
    try:
        return opening.scaled(photo, opening.frame_of(photo))
    except BrokenPicture as error:
        raise JobFailed(f"--sample {error}") from error


def export_model(
    trained: TrainedModel, sample: Tensor, path: Path, kind: ExportFormat, *, fixed: Size | None
) -> Exported:
    """Export a model, compare the file with the model, and only then put it in its place.

    Args:
        trained: On the CPU.
        sample: (3, H, W) uint8.
        fixed: Height and width, multiples of 32, of the only pictures that the file will take;
            None is for any size.

    Raises:
        JobFailed: The model cannot be exported, the file does not do the same, or cannot be
            written.
    """
    deployed = DeployedMaskRCNN(trained.model, trained.hyperparameters, list(trained.categories))
    example = _inputs(sample, fixed)
    metadata = json.dumps(describe(trained, fixed), indent=1)
    try:
        content = kind.write(deployed, example, fixed is None, metadata)
    except Exception as error:  # Exporters raise many kinds.
        reason = f"{type(error).__name__}: {error}".strip().partition("\n")[0]
        raise JobFailed(f"{path.name}: this model cannot be exported so ({reason})") from error
    run = kind.read(content)
    detections, differences = _compare(deployed, run, example)
    # Where nothing is to be found, boxes tie and come in any order: it must run, no more.
    _answer(run, torch.zeros_like(example[0]), example[1])
    if fixed is None:
        # Another shape, so that what was fixed by mistake is found.
        part = sample[:, :, : max(1, sample.shape[2] * 2 // 3)]
        _, more = _compare(deployed, run, _inputs(part, None))
        differences |= {name: max(more[name], differences.get(name, 0)) for name in more}
    write_result(path, content)
    return Exported(
        file=str(path), size_bytes=len(content), detections=detections, differences=differences
    )


def describe(trained: TrainedModel, fixed: Size | None) -> dict[str, object]:
    """Return what a user of the file must know, which is stored in it."""
    hyperparameters = trained.hyperparameters
    limits = f"multiples of {STRIDE} from {LEAST_SIDE} to {MOST_SIDE}"
    outputs = {
        "boxes": "(D, 4) float32: left, top, right, bottom in pixels of the picture as given",
        "labels": "(D,) int64: ids of categories",
        "scores": "(D,) float32, falling",
    }
    if hyperparameters.mode_mask:
        outputs["masks"] = (
            "(D, M, M) float32: probabilities, a grid over each box; above 0.5 is the object"
        )
    return {
        "inputs": {
            "pixels": "(3, H, W) uint8, RGB from 0 to 255, the picture in the upper left corner, "
            f"zeros around it; H and W: {fixed or limits}. Means and deviations are taken off "
            "inside",
            "size": "(2,) int64: height and width of the picture without the zeros",
        },
        "outputs": outputs,
        "resize": "scale the picture so that its short side is short_side, or its long side "
        "max_side if that is less",
        "short_side": max(hyperparameters.image_short_sides),
        "max_side": hyperparameters.image_max_side,
        "stride": STRIDE,
        "fixed_size": fixed,
        "categories": dict(trained.categories),
        "score_threshold": hyperparameters.score_threshold,
        "detections_per_image": hyperparameters.detections_per_image,
    }


def _inputs(picture: Tensor, fixed: Size | None) -> tuple[Tensor, Tensor]:
    """Return pixels and size: the picture in the corner of what the file takes."""
    if fixed is not None and any(
        side > most for side, most in zip(picture.shape[1:], fixed, strict=True)
    ):
        scale = min(most / side for side, most in zip(picture.shape[1:], fixed, strict=True))
        size = tuple(max(1, int(side * scale)) for side in picture.shape[1:])
        picture = resize(picture.permute(1, 2, 0).numpy(), (size[0], size[1]))
    height, width = picture.shape[1:]
    frame = fixed or (_padded(height), _padded(width))
    pixels = pad(picture, (0, frame[1] - width, 0, frame[0] - height))
    return pixels, torch.tensor([height, width])


def _padded(side: int) -> int:
    return max(LEAST_SIDE, -(-side // STRIDE) * STRIDE)


def _compare(
    deployed: DeployedMaskRCNN, run: Run, inputs: tuple[Tensor, Tensor]
) -> tuple[int, dict[str, float]]:
    """Return the number of detections and the largest differences from the model itself.

    Raises:
        JobFailed: They are too large.
    """
    expected = _answer_of_model(deployed, *inputs)
    answer = _answer(run, *inputs)
    if [one.shape for one in answer] != [one.shape for one in expected]:
        raise JobFailed(
            f"the exported model finds {len(answer[0])} objects in the sample picture, the model "
            f"itself {len(expected[0])}; nothing was written"
        )
    differences = {
        name: float((mine.double() - theirs.double()).abs().max())
        for name, mine, theirs in zip(OUTPUTS, expected, answer, strict=False)
        if mine.numel()
    }
    for name, difference in differences.items():
        if not difference <= TOLERANCES[name]:
            raise JobFailed(
                f"{name} of the exported model differ by {difference:g} from the model's, more "
                f"than {TOLERANCES[name]:g}; nothing was written"
            )
    return len(expected[0]), differences


def _answer(run: Run, pixels: Tensor, size: Tensor) -> Outputs:
    try:
        with torch.no_grad():
            return tuple(run(pixels, size))
    except Exception as error:  # Of any runtime.
        raise JobFailed(
            f"the exported model fails for a picture of {size.tolist()} in {list(pixels.shape)} "
            f"({error}); nothing was written"
        ) from error


def _answer_of_model(deployed: DeployedMaskRCNN, pixels: Tensor, size: Tensor) -> Outputs:
    """Return what the model says as the trainer runs it, in the form of the exported one."""
    height, width = size.tolist()
    with torch.no_grad():
        (found,) = deployed.model(pixels[None], [(height, width)])
    labels = deployed.category_ids[found["labels"]]
    outputs = (found["boxes"], labels, found["scores"])
    return (*outputs, found["masks"][:, 0]) if "masks" in found else outputs
