"""What `stage` and `verify` share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from training.data.places import Places
from training.outputs import Outputs, read_outputs_file

OutputsFileOption = Annotated[
    Path | None,
    typer.Option(help="What cdk deploy --outputs-file wrote; else CloudFormation is asked."),
]

JobsOption = Annotated[int, typer.Option(min=1, max=64, help="Files at a time.")]


def find_places(outputs_file: Path | None, jobs: int) -> Places:
    """Return the places of this machine and account; nothing is asked before it is needed."""
    from training.data.aws import make_s3_client

    return Places(
        make_client=lambda: make_s3_client(connections=jobs),
        read_outputs=lambda: _read_outputs(outputs_file),
        environ=os.environ,
    )


def _read_outputs(outputs_file: Path | None) -> Outputs:
    if outputs_file is not None:
        return read_outputs_file(outputs_file)
    from training.data.aws import read_storage_outputs

    return read_storage_outputs()
