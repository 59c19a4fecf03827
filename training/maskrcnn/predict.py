"""`python -m training.maskrcnn.predict`: what a trained model sees in pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import JobFailed

if TYPE_CHECKING:
    from training.maskrcnn.detect import Detector
    from training.maskrcnn.model_file import TrainedModel
    from training.maskrcnn.predictions import Seen, Skipped

app = new_app(
    "Detect objects in pictures with a trained model: predictions.json in COCO's result format, "
    "and the pictures with masks, boxes, names and scores drawn."
)

EPILOG = """Examples:

python -m training.maskrcnn.predict LOG_DIR/model.pt holiday/ dog.jpg --output seen

python -m training.maskrcnn.predict LOG_DIR/checkpoints/step-00001200.pt val2017/
--annotations annotations/instances_val2017.json --score 0.05 --no-pictures --output for-coco"""


@app.command(epilog=EPILOG)
def predict(
    *,
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="model.pt, or a checkpoint step-*.pt.", exists=True),
    ],
    pictures: Annotated[
        list[Path],
        typer.Argument(metavar="PICTURES...", help="Files, and folders with all below them."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            help="Folder for predictions.json, images.json and pictures/; files of the same "
            "names are replaced."
        ),
    ],
    score: Annotated[
        float,
        typer.Option(
            help="Detections with a lower score are left out; from 0 to 1. For an mAP give the "
            "model's own score_threshold.",
            min=0,
            max=1,
        ),
    ] = 0.5,
    annotations: Annotated[
        Path | None,
        typer.Option(
            help="Take image ids from this COCO annotation file, by file name, and pictures as "
            "they are stored. Without it ids are running numbers, and pictures are turned "
            "upright as their EXIF says."
        ),
    ] = None,
    draw: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Draw what was found, or do not.")
    ] = True,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda or cuda:N.  [default: cuda where there is one]")
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(help="fp32, bf16 or fp16.  [default: that of the training; fp32 for fp16]"),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Detect objects in pictures.

    A picture that cannot be used is named and skipped; the others are done, and the exit code is
    1. Exit codes: 0 done, 1 a picture was skipped or the model cannot be read, 2 wrong usage.
    """
    # Here, so that --help and wrong usage do not wait for torch.
    from training.data.picture_file import quiet_about_large_ones
    from training.maskrcnn.photos import Opening, find_photos
    from training.maskrcnn.predictions import ImageIds, ResultFolder, Seen, look_at

    photos = find_photos(pictures, output=output)
    ids = ImageIds(annotations)
    trained, detector = _load(model, device, precision)
    folder = ResultFolder(output, trained.categories)
    opening = Opening.of(trained.hyperparameters, as_stored=annotations is not None)
    with quiet_about_large_ones():
        for seen in _shown(look_at(photos, detector, opening, ids, score=score), len(photos)):
            folder.add(seen, opening if draw else None)
            if output_format is Format.TEXT and isinstance(seen, Seen):
                result.print(_line(seen, trained.categories))
    folder.close()
    if output_format is Format.JSON:
        print_json(folder.summary())
    log.print(f"{folder.detected} detections in {folder.pictures} pictures: {output}")
    if skipped := len(photos) - folder.pictures:
        raise JobFailed(f"{skipped} of {len(photos)} pictures cannot be used")


def _load(model: Path, device: str | None, precision: str | None) -> tuple[TrainedModel, Detector]:
    from training.maskrcnn.detect import Detector
    from training.maskrcnn.device import choose_device, choose_precision
    from training.maskrcnn.model_file import load_model

    chosen = choose_device(device)
    trained = load_model(model, chosen)
    detector = Detector(
        trained.model,
        chosen,
        precision=choose_precision(precision, trained.hyperparameters, chosen),
        category_ids=list(trained.categories),
    )
    return trained, detector


def _shown(seen: Iterator[Seen | Skipped], total: int) -> Iterator[Seen | Skipped]:
    """Show on stderr how far it is, and what is skipped."""
    from training.data.progress_display import show_progress
    from training.maskrcnn.predictions import Skipped

    with show_progress("Detecting", total, "pictures") as progress:
        for one in seen:
            if isinstance(one, Skipped):
                log.print(f"skipped {one.photo.path}: {one.reason}")
            yield one
            progress.advance(1)


def _line(seen: Seen, categories: Mapping[int, str]) -> str:
    counts = Counter(categories[one["category_id"]] for one in seen.detections)
    found = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"{seen.photo.path}: {found or 'nothing'}"


if __name__ == "__main__":
    run(app)
