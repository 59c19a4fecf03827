"""`python -m training.kubernetes attach`: a pod with the file systems, to look at them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from training.cli import Format, FormatOption, log, print_json, result
from training.errors import JobFailed
from training.job_options import OutputsFileOption
from training.kubernetes.access import KubeconfigOption, region_of
from training.kubernetes.client import Kubernetes, Object
from training.kubernetes.helm import Helm
from training.kubernetes.images import check_image
from training.kubernetes.interrupted import told_when_stopped
from training.kubernetes.options import reached
from training.kubernetes.plan import CHARTS, job_images
from training.outputs import KubernetesOutputs, Outputs, RegistryOutputs, StorageOutputs

RELEASE = "attach"
CHART = CHARTS / "attach"
_POLL_S = 2.0
_STOPPED = "the pods stay. End them: python -m training.kubernetes attach --end"
_NOTHING = "nothing to end: attach has no pods here"
_STUCK = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError")


def attach(  # noqa: PLR0917  Typer reads the options from the signature
    outputs_file: OutputsFileOption = None,
    kubeconfig: KubeconfigOption = None,
    image: Annotated[
        str | None, typer.Option(help="With a shell; the horovod image by default.")
    ] = None,
    hours: Annotated[int, typer.Option(min=1, max=168, help="Then the pods end.")] = 8,
    wait_s: Annotated[
        int, typer.Option("--wait", min=1, metavar="SECONDS", help="For the pods to run.")
    ] = 600,
    end: Annotated[bool, typer.Option("--end", help="End the pods instead.")] = False,
    output: FormatOption = Format.TEXT,
) -> None:
    """Start pods that mount EFS and FSx for Lustre, and tell how to get a shell in them."""
    if image is not None:
        check_image("--image", image)
    with reached(outputs_file, kubeconfig) as (outputs, cluster, own):
        helm, client = Helm(own, cluster.namespace), Kubernetes(own, cluster.namespace)
        if end:
            is_there = helm.release(RELEASE) is not None
            helm.uninstall(RELEASE)
            said = "the pods end; what they wrote stays" if is_there else _NOTHING
            log.print(said)
            return
        made = values(outputs, cluster, image=image, hours=hours)
        # Pods cannot be changed: those of before go first.
        helm.uninstall(RELEASE)
        _wait_gone(client, wait_s)
        helm.install(RELEASE, CHART, made)
        with told_when_stopped(_STOPPED):
            pods = wait_running(client, wait_s, log.print)
    commands = [f"kubectl exec -it -n {cluster.namespace} {pod} -- /bin/bash" for pod in pods]
    if output is Format.JSON:
        print_json({"pods": pods, "commands": commands})
        return
    if kubeconfig is None:
        log.print(
            f"once, for kubectl: aws eks update-kubeconfig --name {cluster.cluster_name} "
            f"--region {region_of(cluster)}"
        )
    for command in commands:
        result.print(command)


def values(
    outputs: Outputs, cluster: KubernetesOutputs, *, image: str | None, hours: int
) -> dict[str, Any]:
    """Return the chart's values."""
    storage = outputs.read(StorageOutputs)
    return {
        "global": {"namespace": cluster.namespace},
        "image": image or job_images(outputs.read(RegistryOutputs))["horovod"],
        "hours": hours,
        "serviceAccount": cluster.service_account,
        "volumes": {"efs": True, "fsx": storage.fsx_id is not None},
    }


def wait_running(
    client: Kubernetes, wait_s: float, tell: Callable[[str], None], *, poll_s: float = _POLL_S
) -> list[str]:
    """Wait until all pods of the release run; return their names.

    Raises:
        JobFailed: They do not, with the reason.
    """
    deadline = time.monotonic() + wait_s
    told = ""
    while True:
        pods = _pods(client)
        waiting = [pod for pod in pods if pod.get("status", {}).get("phase") != "Running"]
        if pods and not waiting:
            return [pod["metadata"]["name"] for pod in pods]
        reasons = "; ".join(_reason(pod) for pod in waiting) or "no pod yet"
        if reasons != told:
            tell(f"waiting: {reasons}")
            told = reasons
        if any(word in reasons for word in _STUCK) or time.monotonic() > deadline:
            raise JobFailed(
                f"the pods do not run: {reasons}. They stay for a look (kubectl describe pod -n "
                f"{client.namespace}); end them: python -m training.kubernetes attach --end"
            )
        time.sleep(poll_s)


def _wait_gone(client: Kubernetes, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    while _pods(client):
        if time.monotonic() > deadline:
            raise JobFailed(f"the pods of before do not end in {wait_s:.0f} s; try again later")
        time.sleep(_POLL_S)


def _pods(client: Kubernetes) -> list[Object]:
    return client.list("pods", selector=f"app.kubernetes.io/instance={RELEASE}")


def _reason(pod: Object) -> str:
    """Return a pod's name and why it does not run."""
    name, status = pod["metadata"]["name"], pod.get("status", {})
    for container in status.get("containerStatuses", []):
        if found := container.get("state", {}).get("waiting"):
            return f"{name}: {found.get('reason', 'waiting')} {found.get('message', '')}".rstrip()
    for condition in status.get("conditions", []):
        if condition["status"] == "False" and condition.get("message"):
            return f"{name}: {condition.get('reason', '')} {condition['message']}"
    return f"{name}: {status.get('phase', 'Pending')}"
