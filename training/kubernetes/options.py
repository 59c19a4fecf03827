"""What the commands about the cluster have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from training.job_options import read_outputs
from training.kubernetes.access import cluster_access
from training.kubernetes.plan import READS
from training.outputs import KubernetesOutputs, Outputs

RegistryOption = Annotated[
    str | None,
    typer.Option(
        "--registry",
        metavar="HOST[/PATH]",
        help="Holds copies of all images of the cluster's parts; their authors' by default.",
    ),
]
ImageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        metavar="NAME=ADDRESS",
        help="Where one image is, with tag or digest; `images` lists the names. May be repeated.",
    ),
]


def read_cluster(outputs_file: Path | None) -> tuple[Outputs, KubernetesOutputs]:
    """Read the outputs of the stacks that the cluster's parts need.

    Raises:
        UsageError: KubernetesStack, or an output, is not there.
        AwsError: CloudFormation refused or did not answer.
    """
    outputs = read_outputs(READS, outputs_file)
    return outputs, outputs.read(KubernetesOutputs)


@contextmanager
def reached(
    outputs_file: Path | None, kubeconfig: Path | None
) -> Iterator[tuple[Outputs, KubernetesOutputs, Path]]:
    """Yield the outputs, and a kubeconfig for the cluster that they name."""
    outputs, cluster = read_cluster(outputs_file)
    with cluster_access(cluster, kubeconfig) as own:
        yield outputs, cluster, own
