"""What a node of the cluster runs of this project, as one file in S3."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from constructs import Construct

from stacks.constructs.source_archive import PROJECT, SourceArchive

RunsIn = Literal["image", "environment"]

PARTS: dict[RunsIn, tuple[str, ...]] = {
    "image": ("docker/entrypoint", "node"),
    "environment": (
        "constraints.txt",
        "docker/entrypoint",
        "docker/horovod",
        "node",
        "requirements-train.txt",
        "toolchain",
        "training",
    ),
}
"""Where jobs run, to what nodes need. Another file is another template, and a deploy replaces the
nodes then; so where the trainer is in an image, it is not here."""


class NodePrograms(SourceArchive):
    """The node's programs as an asset of the CDK's, the same file in every checkout."""

    def __init__(
        self, scope: Construct, construct_id: str, *, runs_in: RunsIn, project: Path = PROJECT
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            parts=PARTS[runs_in],
            display_name="programs of the cluster's nodes",
            project=project,
        )
