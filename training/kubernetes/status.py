"""`python -m training.kubernetes status`: what is in the cluster, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.errors import ExitCode
from training.job_options import OutputsFileOption
from training.kubernetes.access import KubeconfigOption
from training.kubernetes.client import Kubernetes
from training.kubernetes.helm import Helm
from training.kubernetes.interrupted import told_when_stopped
from training.kubernetes.options import reached
from training.kubernetes.plan import NAMESPACE
from training.kubernetes.survey import Survey, take


def status(
    outputs_file: OutputsFileOption = None,
    kubeconfig: KubeconfigOption = None,
    output: FormatOption = Format.TEXT,
) -> None:
    """Show what is installed, the nodes and what they offer, the volumes, and each problem.

    Exit code 3 where there is a problem.
    """
    with (
        told_when_stopped("nothing was changed"),
        reached(outputs_file, kubeconfig) as (_, cluster, own),
    ):
        found = take(cluster, Kubernetes(own, cluster.namespace), Helm(own, NAMESPACE))
    problems = list(found.problems())
    if output is Format.JSON:
        print_json(found.to_json())
    else:
        for title, text in _lines(found):
            result.print(f"{title:<22}{text}")
    for problem in problems:
        log.print(f"problem: {problem}")
    if problems:
        raise typer.Exit(ExitCode.PREFLIGHT)


def _lines(found: Survey) -> Iterator[tuple[str, str]]:
    told = found.to_json()
    release = told["release"]
    yield "cluster", f"{told['cluster']}, Kubernetes {told['kubernetes']}"
    yield "release", f"{release['status']}, revision {release['revision']}" if release else "none"
    for name, part in told["parts"].items():
        state = "ready" if part and part["ready"] else "not ready"
        yield name, f"{state}, {part['image']}" if part else "not there"
    yield "system nodes", str(told["system_nodes"])
    gpu = told["gpu_nodes"]
    offers = f", {gpu['gpus']} GPUs and {gpu['efa']} EFA interfaces to give" if gpu["now"] else ""
    yield "GPU nodes", f"{gpu['now']} of at most {gpu['most']} {gpu['type']}{offers}"
    for name, phase in told["claims"].items():
        yield name, phase
