"""What is in the cluster, and what is wrong with it: asked once, judged without asking again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.instances import known_instance
from training.kubernetes import operator
from training.kubernetes.client import Kubernetes, Object
from training.kubernetes.helm import Helm, Release
from training.kubernetes.plan import RELEASE
from training.outputs import KubernetesOutputs

GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"
_INSTALL = "python -m training.kubernetes install"


@dataclass(frozen=True)
class Survey:
    """One cluster at one moment."""

    cluster: KubernetesOutputs
    version: str
    release: Release | None
    has_job_kind: bool
    parts: Mapping[str, Object | None]
    """Deployments and daemon sets by name; None where there is none."""
    nodes: Sequence[Object]
    claims: Sequence[Object]

    @property
    def gpu_nodes(self) -> list[Object]:
        return [node for node in self.nodes if _label(node) == "gpu"]

    @property
    def system_nodes(self) -> list[Object]:
        return [node for node in self.nodes if _label(node) == "system"]

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, a sentence each with what to do."""
        if self.version != self.cluster.kubernetes_version:
            yield (
                f"The cluster runs Kubernetes {self.version}, and KubernetesStack says "
                f"{self.cluster.kubernetes_version}: deploy the stack with "
                f"-c eks_version={self.version}."
            )
        yield from self._of_release()
        if not self.has_job_kind:
            yield f"The cluster does not know MPIJobs: {_INSTALL}."
        yield from self._of_nodes()
        for name, part in self.parts.items():
            yield from _of_part(name, part)
        yield from self._of_claims()

    def _of_release(self) -> Iterator[str]:
        if self.release is None:
            yield f"Release {RELEASE} is not installed: {_INSTALL}."
        elif self.release.status != "deployed":
            yield (
                f"Release {RELEASE} is {self.release.status} ({self.release.description}): run "
                f"{_INSTALL} again."
            )

    def _of_nodes(self) -> Iterator[str]:
        if not self.system_nodes:
            yield (
                "There is no system node, on which launchers, MPI Operator and autoscaler run: "
                "look at the node group in EKS, and deploy KubernetesStack again."
            )
        for node in self.nodes:
            name = node["metadata"]["name"]
            if not _is_true(node, "Ready"):
                yield f"Node {name} is not ready: kubectl describe node {name}."
        for node in self.gpu_nodes:
            yield from _of_devices(node, self.cluster.efa == "true")

    def _of_claims(self) -> Iterator[str]:
        there = {claim["metadata"]["name"]: claim for claim in self.claims}
        if "mask-rcnn-efs" not in there:
            yield f"Claim mask-rcnn-efs is not there: {_INSTALL}."
        for name, claim in there.items():
            phase = claim.get("status", {}).get("phase", "Pending")
            if name.startswith("mask-rcnn-") and phase != "Bound":
                yield (
                    f"Claim {name} is {phase}: kubectl describe pvc {name} -n "
                    f"{self.cluster.namespace} says why; a volume that another claim had is free "
                    "again when its claimRef is removed."
                )

    def to_json(self) -> dict[str, Any]:
        release = self.release
        return {
            "cluster": self.cluster.cluster_name,
            "kubernetes": self.version,
            "namespace": self.cluster.namespace,
            "release": release and {"status": release.status, "revision": release.revision},
            "mpi_operator": {"version": operator.VERSION, "has_job_kind": self.has_job_kind},
            "parts": {
                name: None if part is None else {"image": _image(part), "ready": _is_ready(part)}
                for name, part in self.parts.items()
            },
            "system_nodes": len(self.system_nodes),
            "gpu_nodes": {
                "now": len(self.gpu_nodes),
                "most": self.cluster.number("most_gpu_nodes"),
                "type": self.cluster.gpu_instance_type,
                "gpus": sum(_allocatable(node, GPU) for node in self.gpu_nodes),
                "efa": sum(_allocatable(node, EFA) for node in self.gpu_nodes),
            },
            "claims": {
                claim["metadata"]["name"]: claim.get("status", {}).get("phase", "Pending")
                for claim in self.claims
            },
            "problems": list(self.problems()),
        }


def take(cluster: KubernetesOutputs, client: Kubernetes, helm: Helm) -> Survey:
    """Ask a cluster for everything that a survey has.

    Raises:
        KubernetesError: It refused or does not answer.
    """
    release = helm.release(RELEASE)
    expected = {"nvidia-device-plugin": "daemonsets.apps"}
    if cluster.efa == "true":
        expected["efa-device-plugin"] = "daemonsets.apps"
    if release is None or helm.values(RELEASE).get("autoscaler", {}).get("enabled", True):
        expected["cluster-autoscaler"] = "deployments.apps"
    parts = {
        name: client.get(kind, name, namespace=helm.namespace) for name, kind in expected.items()
    }
    parts["mpi-operator"] = client.get(
        "deployments.apps", operator.DEPLOYMENT, namespace=operator.NAMESPACE
    )
    definitions = "customresourcedefinitions.apiextensions.k8s.io"
    return Survey(
        cluster=cluster,
        version=client.version(),
        release=release,
        has_job_kind=client.get(definitions, operator.JOB_KIND) is not None,
        parts=parts,
        nodes=client.list("nodes"),
        claims=client.list("persistentvolumeclaims"),
    )


def _of_part(name: str, part: Object | None) -> Iterator[str]:
    if part is None:
        yield f"{name} is not there: {_INSTALL}."
    elif not _is_ready(part):
        namespace = part["metadata"]["namespace"]
        yield (
            f"{name} is not ready ({_counts(part)}): kubectl describe "
            f"{part['kind'].lower()} {name} -n {namespace}, and its pods, say why."
        )


def _of_devices(node: Object, efa: bool) -> Iterator[str]:
    """Yield what a GPU node should offer and does not."""
    labels, name = node["metadata"].get("labels", {}), node["metadata"]["name"]
    kind = known_instance(labels.get("node.kubernetes.io/instance-type", ""))
    if kind is None or not _is_true(node, "Ready"):
        return
    wanted = {GPU: kind.gpus}
    if efa and kind.efa_interfaces:
        wanted[EFA] = kind.efa_interfaces
    for resource, count in wanted.items():
        has = _allocatable(node, resource)
        if has < count:
            plugin = "nvidia-device-plugin" if resource == GPU else "efa-device-plugin"
            yield (
                f"Node {name} ({kind.name}) offers {has} of {count} {resource}: look at its pod of "
                f"{plugin} in kube-system, or replace the node."
            )


def _label(node: Object) -> str | None:
    found: str | None = node["metadata"].get("labels", {}).get("mask-rcnn/node")
    return found


def _is_true(found: Object, condition: str) -> bool:
    return any(
        each["type"] == condition and each["status"] == "True"
        for each in found.get("status", {}).get("conditions", [])
    )


def _allocatable(node: Object, resource: str) -> int:
    return int(node.get("status", {}).get("allocatable", {}).get(resource, 0))


def _image(part: Object) -> str:
    found: str = part["spec"]["template"]["spec"]["containers"][0]["image"]
    return found


def _numbers(part: Object) -> tuple[int, int]:
    """Return how many pods are ready, and how many are wanted."""
    status = part.get("status", {})
    if part["kind"] == "DaemonSet":
        return status.get("numberReady", 0), status.get("desiredNumberScheduled", 0)
    return status.get("readyReplicas", 0), part["spec"].get("replicas", 1)


def _is_ready(part: Object) -> bool:
    ready, wanted = _numbers(part)
    return ready >= wanted


def _counts(part: Object) -> str:
    ready, wanted = _numbers(part)
    return f"{ready} of {wanted} pods"
