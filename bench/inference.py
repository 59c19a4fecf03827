"""Detecting and drawing masks for evaluation, against torchvision's reference evaluation loop.

python -m bench.inference [--runs N] [--pictures N] [--size PIXELS] [--format json]

R50-FPN with the same random weights on pictures of the COCO sample, 100 detections on each. Both
have one thread, which is what the reference's loop sets itself; processor time is compared.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from PIL import Image

from bench.reference_inference import reference_detections, reference_masks
from bench.reference_model import calm, reference_like
from bench.timing import Command, Comparison, report, report_text
from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data.coco import Split, read_split
from training.maskrcnn.data.dataset import EvaluationPictures
from training.maskrcnn.detect import Detector
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.paste import paste
from training.maskrcnn.step import AUTOCAST_TYPES

ROOT = Path(__file__).resolve().parent.parent
COCO = TrainChannel(ROOT / "tests" / "data" / "coco")
AT_MOST = 0.5
"""Of the reference's time."""
CATEGORIES = 80
CLASS_WEIGHT_DEVIATION = 3.0
"""Of the random weights of the class scores: some classes must seem likely, as after training."""

app = new_app(__doc__ or "")


@dataclass(frozen=True)
class Models:
    """Both with the same weights."""

    ours: MaskRCNN
    reference: Any
    hyperparameters: Hyperparameters


@app.command()
def main(
    runs: Annotated[int, typer.Option(min=1, help="Timed runs of each.")] = 3,
    pictures: Annotated[int, typer.Option(min=1, help="Pictures of a run.")] = 3,
    size: Annotated[int, typer.Option(min=64, help="Short side of the pictures, pixels.")] = 800,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Measure; exit code 1 where a target is missed."""
    # pycocotools has not caught up with numpy 2.
    warnings.simplefilter("ignore", DeprecationWarning)
    torch.set_num_threads(1)
    comparisons = measure(build(size), runs=runs, pictures=pictures, progress=log.print)
    if output_format is Format.JSON:
        print_json(report(comparisons))
    else:
        result.print(report_text(comparisons), markup=False)
    if not all(one.passed for one in comparisons):
        raise JobFailed("a target was missed; run it again on an idle machine before you judge")


def build(size: int, **changes: Any) -> Models:
    """Build both models for pictures of a short side, with changes of hyperparameters."""
    hyperparameters = read_hyperparameters(
        {
            "backbone_weights": None,
            "image_short_sides": [size],
            "image_max_side": round(size * 5 / 3),
            "num_workers": 0,
            **changes,
        },
        source="bench",
    )
    torch.manual_seed(0)
    ours = build_model(hyperparameters, categories=CATEGORIES, sum_over_ranks=lambda tensor: tensor)
    torch.nn.init.normal_(ours.roi_heads.box_predictor.cls_score.weight, std=CLASS_WEIGHT_DEVIATION)
    ours.load_state_dict(calm(ours.state_dict()))
    reference = reference_like(hyperparameters, ours.state_dict(), outputs=CATEGORIES + 1)
    return Models(ours.eval(), reference.eval(), hyperparameters)


def measure(
    models: Models, *, runs: int, pictures: int, progress: Callable[[str], None]
) -> list[Comparison]:
    """Time all in turn: first our precisions, then the drawing of masks alone."""
    split = read_split(COCO, "train2017")
    places = range(min(pictures, len(split.records)))
    precisions = ("fp32", "bf16") if has_fast_bf16() else ("fp32",)
    detectors = {name: _detector(models, name) for name in precisions}
    counts: list[int] = []
    taken: dict[str, list[float]] = {"reference": [], **{name: [] for name in precisions}}
    for number in range(runs + 1):
        seconds = {"reference": _time(partial(_run_reference, models, split, places))}
        for name, detector in detectors.items():
            seconds[name] = _time(partial(_run_ours, models, split, detector, places, counts))
        # The first run fills caches.
        for name, took in seconds.items():
            taken[name] += [took / len(places)] if number else []
        progress(f"run {number} of {runs}")
    of_picture = f"a picture, {sum(counts) / len(counts):.0f} detections"
    return [
        *(
            Comparison(
                Command(f"ours, {name}, {of_picture}", ()),
                Command("reference, fp32", ()),
                tuple(taken[name]),
                tuple(taken["reference"]),
                AT_MOST if name == "bf16" else None,
            )
            for name in precisions
        ),
        _masks(models, split, detectors["fp32"], runs=runs),
    ]


def has_fast_bf16() -> bool:
    """Tell whether the processor multiplies in bf16; elsewhere it is slower than fp32."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return "avx512_bf16" in flags or "amx_bf16" in flags


def _detector(models: Models, precision: str) -> Detector:
    return Detector(
        models.ours,
        torch.device("cpu"),
        precision=AUTOCAST_TYPES[precision],
        category_ids=range(1, CATEGORIES + 1),
    )


def _run_reference(models: Models, split: Split, places: Sequence[int]) -> None:
    for at in places:
        with Image.open(split.records[at].file) as picture:
            reference_detections(models.reference, picture.convert("RGB"))


def _run_ours(
    models: Models, split: Split, detector: Detector, places: Sequence[int], counts: list[int]
) -> None:
    for at in places:
        record, pixels = EvaluationPictures(split.records, models.hyperparameters)[at]
        counts.append(len(detector.locate(detector.look(pixels), record, pixels)))


def _masks(models: Models, split: Split, detector: Detector, *, runs: int) -> Comparison:
    """Draw and encode the masks of one picture."""
    record, pixels = EvaluationPictures(split.records, models.hyperparameters)[0]
    answer = detector.look(pixels)
    boxes = answer["boxes"] * (record.height / pixels.shape[1])
    size = (record.height, record.width)
    base_s: list[float] = []
    subject_s: list[float] = []
    for _ in range(max(runs, 5)):
        base_s.append(_time(partial(reference_masks, answer["masks"], boxes, size)))
        subject_s.append(_time(partial(paste, answer["masks"], boxes, size)))
    return Comparison(
        Command(f"ours, {len(boxes)} masks of {size[1]} x {size[0]}", ()),
        Command("reference", ()),
        tuple(subject_s),
        tuple(base_s),
        AT_MOST,
    )


def _time(work: Callable[[], object]) -> float:
    """Return the processor's seconds: others may use the machine as well."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    run(app)
