"""What the notebook runs of this project, as one file in S3."""

from __future__ import annotations

from pathlib import Path

from constructs import Construct

from stacks.constructs.source_archive import PROJECT, SourceArchive, write_zip

PARTS = (
    "charts",
    "constraints.txt",
    "docker",
    "jobs",
    "notebooks",
    "requirements-notebook.txt",
    "requirements-train.txt",
    "toolchain",
    "training",
)
"""Of the project: what launch, data and images need, as far as it is there.

An image's tag is a hash of its sources: where one of them were missing here, jobs would be launched
with an image that nobody has pushed.
"""

SCRIPTS = Path("stacks/lifecycle")
"""What a start of the instance runs once it has the source."""


class NotebookSource(SourceArchive):
    """The source as an asset of the CDK's, the same file in every checkout."""

    def __init__(self, scope: Construct, construct_id: str, *, project: Path = PROJECT) -> None:
        super().__init__(
            scope,
            construct_id,
            parts=(*PARTS, str(SCRIPTS)),
            display_name="source for the notebook",
            project=project,
        )


def write_archive(archive: Path, project: Path) -> None:
    """Write the archive of a project's folder."""
    write_zip(archive, project, (*PARTS, str(SCRIPTS)))
