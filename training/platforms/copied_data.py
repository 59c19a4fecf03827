"""Brings a data set from S3 to this machine, for the platforms that run here."""

from __future__ import annotations

from pathlib import Path

from training.cli import log as console
from training.errors import PreflightError

COPY_JOBS = 8
"""Files that are copied at a time."""


def copy_data(address: str, folder: Path) -> None:
    """Copy a data set here; what is here already and equal stays as it is.

    Args:
        address: `s3://bucket/key`.
        folder: Where it goes.

    Raises:
        PreflightError: There is nothing at the address.
        AwsError: S3 refused.
    """
    from training.aws.errors import translated
    from training.data.aws import make_bulk, make_s3_client
    from training.data.bucket import Bucket
    from training.data.folder import Folder
    from training.data.paths import require_tree
    from training.data.progress_display import show_progress
    from training.data.stage import Manner, stage

    client = make_s3_client(connections=COPY_JOBS)
    source = Bucket(client, *bucket_and_key(address))
    with translated():
        files = source.files()
        if not files:
            raise PreflightError(
                f"{address}: there is no data. Stage it: python -m training.data stage DIR --to s3 "
                f"--path {bucket_and_key(address)[1]}"
            )
        require_tree(set(files), source.name)
        total_bytes = sum(state.size for state in files.values())
        with show_progress(f"Copying {address}", total_bytes, "bytes") as progress:
            manner = Manner(
                jobs=COPY_JOBS, bulk=make_bulk(client), progress=progress, tell=console.print
            )
            stage(source, Folder(folder), files, manner)


def bucket_and_key(address: str) -> tuple[str, str]:
    """Return the two parts of `s3://bucket/key`."""
    bucket, _, key = address.removeprefix("s3://").partition("/")
    return bucket, key
