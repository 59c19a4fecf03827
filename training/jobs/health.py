"""`health`: how the cluster's nodes are, and replacing those that are not well."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.errors import Interrupted, JobFailed, UsageError
from training.job_options import read_outputs
from training.jobs.control import OutputsFileOption, PlatformOption
from training.outputs import ClusterOutputs, RegistryOutputs
from training.platforms.ec2.head import connect, head_of
from training.platforms.ec2.health.image import image_of
from training.platforms.ec2.health.node import Node
from training.platforms.ec2.health.replacing import choose, warnings
from training.platforms.ec2.health.replacing import replace as replace_node
from training.platforms.ec2.health.report import Health, find_health
from training.platforms.ec2.health.text import lines_of

ATTEMPTS = 3
"""Of each request: an endpoint that is down is told."""


def health(
    *,
    platform: PlatformOption = "ec2",
    outputs_file: OutputsFileOption = None,
    all_reduce: Annotated[
        bool,
        typer.Option(
            help="Let all nodes add up numbers, and measure their bandwidth; not beside a job."
        ),
    ] = True,
    image: Annotated[
        str | None,
        typer.Option(
            metavar="URI",
            help="What that runs in, where jobs run in images: one with torch; horovod's by "
            "default.",
        ),
    ] = None,
    timeout_s: Annotated[
        float,
        typer.Option(
            min=20, max=1500, help="For the nodes' part, in seconds, with the pull of the image."
        ),
    ] = 300,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the nodes that the verdict says; asks first.")
    ] = False,
    node: Annotated[
        list[str] | None,
        typer.Option(metavar="INSTANCE", help="With --replace: this node instead; repeat it."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Replace without asking.")] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Look at each node of the EC2 cluster.

    It says which is to be replaced, and why.

    Exit codes: 0 all is well, 1 something has failed (--replace or not: look again), 2 wrong usage,
    4 AWS refused or cannot be reached.
    """
    if platform != "ec2":
        raise UsageError(f"--platform {platform}: has no nodes of its own; health is for ec2")
    if node and not replace:
        raise UsageError("--node: says which node --replace replaces; add --replace")
    look = _Look(outputs_file)
    found = look.at_all(all_reduce=all_reduce, image=image, timeout_s=timeout_s)
    if output_format is Format.TEXT:
        for line in lines_of(found):
            result.print(line)
    replaced: list[str] = []
    try:
        for each in choose(found, node or []) if replace else []:
            for line in warnings(found, each):
                log.print(f"warning: {line}")
            if yes or _agreed(each):
                look.replace(each)
                replaced.append(each.aws.instance_id)
    finally:
        if output_format is Format.JSON:
            print_json({**found.to_json(), "replaced": replaced})
    if found.has_failed:
        raise JobFailed(f"cluster {found.cluster} is not well{_what_next(found, replaced)}")


class _Look:
    """What asks AWS and the head node of the cluster that the stacks made."""

    def __init__(self, outputs_file: Path | None) -> None:
        self._outputs = read_outputs((ClusterOutputs, RegistryOutputs), outputs_file)
        self._cluster = self._outputs.read(ClusterOutputs)
        self._clients = connect(self._cluster, attempts=ATTEMPTS)
        self._head = head_of(self._cluster, attempts=ATTEMPTS)

    def at_all(self, *, all_reduce: bool, image: str | None, timeout_s: float) -> Health:
        return find_health(
            self._clients,
            self._head,
            self._cluster,
            all_reduce=all_reduce,
            image=image or image_of(self._cluster, self._outputs),
            timeout_s=timeout_s,
            now=datetime.now(UTC),
        )

    def replace(self, node: Node) -> None:
        replace_node(self._clients, self._head, node, log.print)


def _agreed(node: Node) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nobody is there to agree to the replacement; add --yes")
    name = node.aws.instance_id
    try:
        return typer.confirm(f"Replace {node.aws.role} {name}?", err=True)
    except typer.Abort as error:
        raise Interrupted(f"{name} and those after it were not replaced") from error


def _what_next(found: Health, replaced: Sequence[str]) -> str:
    if replaced:
        return f": {len(replaced)} node(s) are being replaced; look again in some minutes"
    if found.to_replace:
        return f": {len(found.to_replace)} node(s) should be replaced (--replace)"
    return ""
