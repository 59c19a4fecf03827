"""A copy of a job's log channel in S3, for the report."""

from __future__ import annotations

from pathlib import Path

from training.aws.errors import translated
from training.data.side import Side
from training.errors import UsageError
from training.layout import LogChannel


def copy_log(side: Side, folder: Path) -> Path:
    """Copy a log channel, but for its large files: checkpoints and model.

    Args:
        side: The channel in S3.
        folder: Of the copy; what is in it is written over, since a running job's files grow.

    Returns:
        The folder.

    Raises:
        UsageError: Nothing is there.
        AwsError: S3 refused or did not answer.
    """
    channel = LogChannel(Path())
    large = (f"{channel.checkpoints}/", str(channel.model))
    with translated():
        files = side.files()
        if not files:
            raise UsageError(f"{side.name}: a job that trains writes there, and nothing is there")
        for path, state in files.items():
            if not path.startswith(large):
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(b"".join(side.read(path, state)))
    return folder
