"""`python -m training.maskrcnn.export`: a trained model as one file that needs no code of ours."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from training.cli import Format, FormatOption, log, new_app, print_json, result, run
from training.errors import UsageError
from training.maskrcnn.files import check_writable

if TYPE_CHECKING:
    from training.maskrcnn.export_formats import ExportFormat
    from training.maskrcnn.exporting import Exported

app = new_app(
    "Export a trained model to one file that is run without this program: .pt2 by torch and "
    "torchvision, .onnx by onnxruntime and others."
)

EPILOG = """Examples:

python -m training.maskrcnn.export LOG_DIR/model.pt --output model.pt2 --sample dog.jpg

python -m training.maskrcnn.export LOG_DIR/model-best.pt --output model.onnx --size 800x1344"""


@app.command(epilog=EPILOG)
def export(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="model.pt, or a checkpoint step-*.pt.", exists=True),
    ],
    output: Annotated[
        Path,
        typer.Option(
            help="The file to write; its name says the format: .pt2 (torch.export) or .onnx. It "
            "is replaced only by one that was checked."
        ),
    ],
    size: Annotated[
        str | None,
        typer.Option(
            help="HEIGHTxWIDTH in pixels, multiples of 32: the only size that the file takes, "
            "for runtimes that want one.  [default: any size]"
        ),
    ] = None,
    sample: Annotated[
        Path | None,
        typer.Option(
            help="A picture with objects that the model knows: the file must find the same in "
            "it.  [default: drawn shapes]",
            exists=True,
        ),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Export a model and check the file against it.

    The file says itself what goes in and what comes out: extra file metadata.json of a .pt2,
    property metadata of an .onnx. Exit codes: 0 done, 1 the model cannot be read or exported, or
    the file does not find the same, 2 wrong usage.
    """
    fixed = None if size is None else _read_size(size)
    if not output.parent.is_dir():
        raise UsageError(f"--output {output}: {output.parent} is no folder")
    if output.is_dir():
        raise UsageError(f"--output {output}: cannot be written, it is a folder")
    kind = _format_of(output)
    check_writable(output.parent, given=f"--output {output}")
    # Here, so that --help and wrong usage do not wait for torch.
    import torch

    from training.maskrcnn.exporting import export_model, read_sample
    from training.maskrcnn.model_file import load_model

    trained = load_model(model, torch.device("cpu"))
    picture = read_sample(sample, trained.hyperparameters)
    log.print(f"exporting {model} to {output}: takes minutes for a large model")
    exported = export_model(trained, picture, output, kind, fixed=fixed)
    if not exported.detections:
        log.print(
            "warning: the model finds nothing in the sample picture, so there was nothing to "
            "compare but that; give --sample with a picture of what it knows"
        )
    if output_format is Format.JSON:
        print_json(asdict(exported))
    else:
        result.print(_line(exported))


def _format_of(output: Path) -> ExportFormat:
    from training.maskrcnn.export_formats import FORMATS

    if output.suffix not in FORMATS:
        raise UsageError(f"--output {output}: must end with {' or '.join(FORMATS)}")
    kind = FORMATS[output.suffix]()
    kind.check_here()
    return kind


def _read_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    height, width = (int(side) for side in match.groups()) if match else (0, 0)
    if not match or min(height, width) < 64 or height % 32 or width % 32:
        raise UsageError(
            f"--size {text}: must be HEIGHTxWIDTH, multiples of 32 from 64 on, as in 800x1344"
        )
    return height, width


def _line(exported: Exported) -> str:
    shown = ", ".join(f"{name} {value:.1e}" for name, value in exported.differences.items())
    return (
        f"{exported.file}: {exported.size_bytes / 2**20:.1f} MiB; in the sample picture it finds "
        f"the same {exported.detections} objects; largest differences: {shown or 'none'}"
    )


if __name__ == "__main__":
    run(app)
