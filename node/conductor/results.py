"""Copies the model and the report to S3, where the launcher's user finds them."""

from __future__ import annotations

from pathlib import Path

from node.aws_cli import AwsError, output_of

from .places import RunFolder
from .state import read_object

COPY_S = 3600


def copy_results(run: RunFolder, target: str) -> str | None:
    """Copy them; return why it did not work, None where it did.

    Args:
        target: `s3://bucket/key/model.pt`; the report, and the files of a model that has several
            or other ones, go beside it.
    """
    beside = target.rpartition("/")[0]
    copies = [
        (path, target if path == run.model else f"{beside}/{path.name}") for path in models(run)
    ]
    if not copies:
        return f"{run.root}: the job left no model"
    if run.report.exists():
        copies.append((run.report, f"{beside}/report.html"))
    for source, there in copies:
        if reason := _copy(source, there):
            return reason
    return None


def models(run: RunFolder) -> list[Path]:
    """Return the model's files, as the entry point names them (docker/entrypoint/record.py)."""
    named = read_object(run.root / "model-files.json").get("files")
    names = [str(name) for name in named] if isinstance(named, list) else [run.model.name]
    paths = [run.root / name for name in names if ".." not in Path(name).parts]
    return [path for path in paths if path.is_file()]


def _copy(source: Path, target: str) -> str | None:
    try:
        output_of("s3", "cp", "--only-show-errors", str(source), target, timeout_s=COPY_S)
    except AwsError as error:
        return f"{target}: {error}"
    return None
