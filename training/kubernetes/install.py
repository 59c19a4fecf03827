"""`python -m training.kubernetes install`: bring what jobs need into the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.job_options import OutputsFileOption
from training.kubernetes import operator
from training.kubernetes.access import KubeconfigOption, cluster_access
from training.kubernetes.client import Kubernetes
from training.kubernetes.errors import HelmBusy
from training.kubernetes.helm import Helm
from training.kubernetes.images import chosen, pinned
from training.kubernetes.interrupted import told_when_stopped
from training.kubernetes.options import ImageOption, RegistryOption, read_cluster
from training.kubernetes.plan import CHART, NAMESPACE, RELEASE, Installation, plan
from training.kubernetes.preparation import adopt_namespace, check_cluster

_STOPPED = (
    "not all is installed: part of it may be there. Run the same command again to "
    "complete it, or python -m training.kubernetes uninstall"
)

ManifestOption = Annotated[
    Path | None,
    typer.Option(
        "--mpi-operator-manifest",
        metavar="FILE",
        help=f"MPI Operator {operator.VERSION}'s manifest, fetched elsewhere; its authors' "
        "address by default.",
    ),
]
WaitOption = Annotated[
    int, typer.Option("--wait", min=0, metavar="SECONDS", help="For all parts to be ready.")
]


def install(  # noqa: PLR0917  Typer reads the options from the signature
    outputs_file: OutputsFileOption = None,
    kubeconfig: KubeconfigOption = None,
    manifest: ManifestOption = None,
    registry: RegistryOption = None,
    image: ImageOption = None,
    autoscaler: Annotated[
        bool, typer.Option("--autoscaler/--no-autoscaler", help="GPU nodes come and go by need.")
    ] = True,
    wait_s: WaitOption = 600,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Take back what a killed install left locked.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent; ask no cluster.")
    ] = False,
    output: FormatOption = Format.TEXT,
) -> None:
    """Install the cluster's parts, or bring them up to date.

    The MPI Operator; the chart `cluster`: namespace, volumes, device plugins, autoscaler, network
    policies. Run it after each deploy of KubernetesStack or StorageStack, and after a git pull.
    """
    outputs, cluster = read_cluster(outputs_file)
    images = pinned(cluster.kubernetes_version, efa=cluster.efa == "true")
    images = chosen(images, registry=registry, own=image or ())
    made = plan(outputs, images, operator.read_manifest(manifest), autoscaler=autoscaler)
    if dry_run:
        _show(made, output)
        return
    with told_when_stopped(_STOPPED), cluster_access(cluster, kubeconfig) as own:
        client = Kubernetes(own, cluster.namespace)
        version = check_cluster(client, made)
        log.print(f"Kubernetes {version}: MPI Operator {operator.VERSION}")
        adopt_namespace(client)
        client.apply(operator.to_manifest(list(made.operator)))
        log.print(f"release {RELEASE} (waiting up to {wait_s} s for its parts)")
        helm = Helm(own, NAMESPACE)
        if take_over and helm.take_over(RELEASE):
            log.print("what a command began that was killed is taken back")
        _upgrade(helm, made, wait_s)
    if output is Format.JSON:
        print_json({"release": RELEASE, "namespace": NAMESPACE, "kubernetes": version})
    else:
        result.print(f"installed in cluster {cluster.cluster_name}; jobs: {cluster.namespace}")


def _upgrade(helm: Helm, made: Installation, wait_s: int) -> None:
    try:
        helm.upgrade(RELEASE, CHART, made.values, wait_s=wait_s)
    except HelmBusy as error:
        raise HelmBusy(
            f"another command works on release {RELEASE} just now: wait until it has ended, and "
            "run this again. If none runs, one was killed: run this with --take-over"
        ) from error


def _show(made: Installation, output: Format) -> None:
    if output is Format.JSON:
        print_json(made.to_json())
        return
    import yaml

    result.print(made.manifest())
    for each in made.operator:
        result.print("---")
        if each["kind"] == "CustomResourceDefinition":
            result.print(f"# CustomResourceDefinition {each['metadata']['name']}, as in")
            result.print(f"# {operator.ADDRESS}")
        else:
            result.print(yaml.safe_dump(each, sort_keys=False).rstrip())
