"""What must be so in the cluster before its parts are installed."""

from __future__ import annotations

from training.errors import PreflightError
from training.kubernetes.client import Kubernetes, Object
from training.kubernetes.plan import NAMESPACE, RELEASE, Installation

_DRIVERS = {
    "efs.csi.aws.com": "aws-efs-csi-driver",
    "fsx.csi.aws.com": "aws-fsx-csi-driver",
}
"""CSI drivers, and the add-ons of KubernetesStack that bring them."""


def check_cluster(client: Kubernetes, made: Installation) -> str:
    """Return the version of Kubernetes; see that the cluster is the one that the chart is for.

    Raises:
        PreflightError: It is not.
        KubernetesError: It refused or does not answer.
    """
    version, expected = client.version(), made.cluster.kubernetes_version
    if version != expected:
        raise PreflightError(
            f"the cluster runs Kubernetes {version}, and KubernetesStack says {expected}: is this "
            "the stack's cluster (--kubeconfig, KUBECONFIG)? If it was upgraded by hand, deploy "
            f"the stack with -c eks_version={version}"
        )
    needed = set(_DRIVERS) if made.values["fsx"]["id"] else {"efs.csi.aws.com"}
    drivers = {each["metadata"]["name"] for each in client.list("csidrivers.storage.k8s.io")}
    if missing := sorted(needed - drivers):
        addons = ", ".join(_DRIVERS[name] for name in missing)
        raise PreflightError(
            f"the cluster lacks the CSI driver {', '.join(missing)}, which the add-on {addons} "
            "brings. Wait until KubernetesStack is deployed, or deploy it again"
        )
    there = {each["metadata"]["name"]: each for each in client.list("persistentvolumes")}
    for kind, name in (("efs", "mask-rcnn-efs"), ("fsx", "mask-rcnn-fsx")):
        handle = made.volume_handle(kind)
        if name in there and handle is not None:
            _check_volume(client, there[name], handle)
    return version


def _check_volume(client: Kubernetes, volume: Object, handle: str) -> None:
    """See that a volume that is there leads to the stack's file system: it cannot be changed."""
    name, has = volume["metadata"]["name"], volume["spec"].get("csi", {}).get("volumeHandle")
    if has != handle:
        raise PreflightError(
            f"persistent volume {name} leads to {has}, and StorageStack has {handle} now. A "
            "volume cannot be changed: once no job uses it, remove it and its claim (nothing on "
            f"the file systems is lost), and run this again: kubectl delete pvc {name} -n "
            f"{client.namespace}; kubectl delete pv {name}"
        )


def adopt_namespace(client: Kubernetes) -> None:
    """Let the release take over a namespace of jobs that somebody has made by hand.

    helm refuses what has no owner: https://helm.sh/docs/faq/changes_since_helm2/. One that another
    release owns is left alone, and helm says so.
    """
    found = client.get("namespaces", client.namespace)
    owner = "meta.helm.sh/release-name"
    if found is None or owner in found["metadata"].get("annotations", {}):
        return
    change = {
        "labels": {"app.kubernetes.io/managed-by": "Helm"},
        "annotations": {owner: RELEASE, "meta.helm.sh/release-namespace": NAMESPACE},
    }
    client.patch("namespaces", client.namespace, {"metadata": change})
