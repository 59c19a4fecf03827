"""Jobs for the EKS cluster; kubectl and helm are real, and its API server is the tests'."""

from __future__ import annotations

import copy
import json
from functools import partial
from typing import Any

from tests.training.preflight.job.eks.conftest import named, served, volume
from tests.training.preflight.situations import breaking
from tests.training.preflight.situations.breaking import nothing, stale
from tests.training.preflight.situations.on_ec2 import ON_DEMAND
from tests.training.preflight.situations.situation import Situation, Sound, error, info, warning
from tests.training.preflight.situations.sound import FILES, ZONES, Base

_EKS = (
    *("--platform", "eks", "--instance-count", "2", "--set", "image={images[horovod]}"),
    # Else it has the time in it, and helm would have to make each anew.
    *("--name", "mine"),
)
S3 = (*_EKS, "--data-source", "s3")
EFS = (*_EKS, "--data-source", "efs")
FSX = (*_EKS, "--data-source", "fsx")

_stale = partial(stale, stack="KubernetesStack")

ADDONS = ("vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent")

OPERATOR = "mpijobs.kubeflow.org"


def _cluster_is(base: Base, **parts: str) -> None:
    base.account.says("eks", "DescribeCluster", lambda said: said["cluster"].update(parts))


def _group_is(base: Base, **parts: Any) -> None:
    base.account.says("eks", "DescribeNodegroup", lambda said: said["nodegroup"].update(parts))


def _lose_addon(base: Base, name: str) -> None:
    eks, request = base.boto("eks"), {"clusterName": f"eks-{base.mark}", "addonName": name}
    eks.delete_addon(**request)
    base.account.undo.callback(eks.create_addon, **request)


def _addon_is(base: Base, name: str, status: str) -> None:
    def change(said: dict[str, Any]) -> None:
        if said["addon"]["addonName"] == name:
            said["addon"]["status"] = status

    base.account.says("eks", "DescribeAddon", change)


def _lose(base: Base, plural: str, name: str) -> None:
    """Delete an object of the cluster."""
    store = base.kubernetes.store
    kind = next(each for each in store.kinds if each.plural == plural)
    place = next(each for each in store.of(kind) if each[1] == name)
    gone = copy.deepcopy(store.delete(kind, place))
    base.account.undo.callback(base.kubernetes.put, gone)


def _change(base: Base, plural: str, name: str, new: dict[str, Any]) -> None:
    """Put another object in the place of one; what controllers do for it is left out."""
    old = copy.deepcopy(dict(base.kubernetes.find(plural, name) or {}))
    base.account.undo.callback(base.kubernetes.put, old)
    _stop_controllers(base)
    base.kubernetes.put(new)


def _stop_controllers(base: Base) -> None:
    base.kubernetes.workloads_succeed = False
    base.account.undo.callback(setattr, base.kubernetes, "workloads_succeed", True)


def _stop_operator(base: Base) -> None:
    there = dict(base.kubernetes.find("deployments", "mpi-operator", "kube-system") or {})
    old = copy.deepcopy(there)
    base.account.undo.callback(base.kubernetes.put, old)
    _stop_controllers(base)
    base.kubernetes.put({**there, "status": {}})


def _install_another_operator(base: Base) -> None:
    old = copy.deepcopy(dict(base.kubernetes.find("customresourcedefinitions", OPERATOR) or {}))
    base.account.undo.callback(base.kubernetes.put, old)
    base.kubernetes.put(served("v1"))


def _leave_claim_pending(base: Base) -> None:
    there = dict(base.kubernetes.find("persistentvolumeclaims", "mask-rcnn-efs") or {})
    _change(
        base, "persistentvolumeclaims", "mask-rcnn-efs", {**there, "status": {"phase": "Pending"}}
    )


def _bind_another(base: Base) -> None:
    _change(base, "persistentvolumes", "mask-rcnn-efs", volume("mask-rcnn-efs", "fs-0other"))


def _limit_namespace(base: Base) -> None:
    hard = {"requests.nvidia.com/gpu": "16", "pods": "20"}
    used = {"requests.nvidia.com/gpu": "8", "pods": "2"}
    quota = named("ResourceQuota", "team", spec={"hard": hard}, status={"hard": hard, "used": used})
    base.kubernetes.put(quota)
    store = base.kubernetes.store
    kind = next(each for each in store.kinds if each.plural == "resourcequotas")
    base.account.undo.callback(store.delete, kind, ("kubeflow", "team"))


def _refuse(base: Base) -> None:
    base.kubernetes.refusals["get", "serviceaccounts"] = (403, "Forbidden", "user cannot get")
    base.account.undo.callback(base.kubernetes.refusals.clear)


def _go_where_nobody_answers(base: Base) -> None:
    """Name a cluster whose address is a closed port."""
    config = json.loads(base.kubernetes.kubeconfig.read_text(encoding="utf-8"))
    config["clusters"][0]["cluster"]["server"] = "http://127.0.0.1:9"
    file = base.kubernetes.kubeconfig.with_name("away")
    file.write_text(json.dumps(config), encoding="utf-8")
    base.account.patch.setenv("KUBECONFIG", str(file))
    base.account.undo.callback(
        base.account.patch.setenv, "KUBECONFIG", str(base.kubernetes.kubeconfig)
    )


SITUATIONS = (
    # The cluster.
    Situation(
        "the EKS cluster was deleted",
        S3,
        partial(_stale, ClusterName="gone"),
        (
            error("cluster-missing", "gone"),
            *(error("addon-missing", name) for name in (*ADDONS, "aws-efs-csi-driver")),
            error("node-group-missing", "gpu"),
        ),
    ),
    Situation(
        "the EKS cluster is still being made",
        S3,
        partial(_cluster_is, status="CREATING"),
        (error("cluster-not-active", "eks-{mark}"),),
    ),
    Situation(
        "the EKS cluster was raised to another version",
        S3,
        partial(_cluster_is, version="1.36"),
        (warning("cluster-other-version", "eks-{mark}"),),
    ),
    Situation(
        "the API of the cluster does not answer",
        S3,
        _go_where_nobody_answers,
        (error("api-not-reached", "eks-{mark}"),),
    ),
    Situation(
        "the cluster does not know the caller",
        S3,
        _refuse,
        (error("api-not-permitted", "eks-{mark}"),),
    ),
    Situation(
        "an add-on was removed",
        S3,
        partial(_lose_addon, name="aws-efs-csi-driver"),
        (error("addon-missing", "aws-efs-csi-driver"),),
    ),
    Situation(
        "an add-on is not well",
        S3,
        partial(_addon_is, name="coredns", status="DEGRADED"),
        (warning("addon-unwell", "coredns"),),
    ),
    # Nodes.
    Situation(
        "the GPU node group was deleted",
        S3,
        partial(_stale, GpuNodeGroup="gone"),
        (error("node-group-missing", "gone"),),
    ),
    Situation(
        "the GPU node group could not be made",
        S3,
        partial(_group_is, status="CREATE_FAILED"),
        (error("node-group-not-active", "gpu"),),
    ),
    Situation(
        "the GPU node group was made smaller by hand",
        S3,
        partial(_group_is, scalingConfig={"minSize": 0, "maxSize": 1, "desiredSize": 0}),
        (error("node-group-too-small", "instances.count"),),
    ),
    Situation(
        "the GPU nodes are of another type by now",
        S3,
        partial(_group_is, instanceTypes=["g5.48xlarge"]),
        (error("node-group-other-type", "instances.type"),),
    ),
    Situation(
        "AWS cannot give the group its nodes",
        S3,
        partial(
            _group_is,
            health={"issues": [{"code": "AsgInstanceLaunchFailures", "message": "no capacity"}]},
        ),
        (warning("node-group-unhealthy", "gpu"),),
    ),
    Situation(
        "the GPU nodes' zone does not have their type",
        S3,
        partial(breaking.offered_in, zones=(ZONES[0],)),
        (error("instance-type-not-in-zone", "instances.type"),),
    ),
    Situation(
        "the quota of vCPUs is too low for the GPU nodes",
        S3,
        lambda base: base.account.quota(ON_DEMAND, 96),
        (error("quota-too-small", "instances.count"),),
    ),
    Situation(
        "the job takes more nodes than the group has",
        (*S3, "--instance-count", "5"),
        nothing,
        (error("workers-over-most", "instances.count"),),
    ),
    # What is installed.
    Situation(
        "the MPI Operator is not installed",
        S3,
        partial(_lose, plural="customresourcedefinitions", name=OPERATOR),
        (error("operator-missing", OPERATOR),),
    ),
    Situation(
        "the MPI Operator is of another version",
        S3,
        _install_another_operator,
        (error("operator-other-version", OPERATOR),),
    ),
    Situation(
        "the MPI Operator has no pod",
        S3,
        _stop_operator,
        (error("operator-not-running", "mpi-operator"),),
    ),
    Situation(
        "nothing tells Kubernetes of GPUs",
        S3,
        partial(_lose, plural="daemonsets", name="nvidia-device-plugin"),
        (error("device-plugin-missing", "nvidia.com/gpu"),),
    ),
    Situation(
        "nothing tells Kubernetes of EFA",
        S3,
        partial(_lose, plural="daemonsets", name="aws-efa-k8s-device-plugin"),
        (error("device-plugin-missing", "vpc.amazonaws.com/efa"),),
    ),
    # The namespace.
    Situation(
        "the namespace was deleted",
        S3,
        partial(_stale, Namespace="gone"),
        (error("namespace-missing", "gone"), error("claim-missing", "mask-rcnn-efs")),
    ),
    Situation(
        "the service account of jobs was deleted",
        S3,
        partial(_lose, plural="serviceaccounts", name="mask-rcnn"),
        (error("service-account-missing", "mask-rcnn"),),
    ),
    Situation(
        "the claim of EFS was deleted",
        S3,
        partial(_lose, plural="persistentvolumeclaims", name="mask-rcnn-efs"),
        (error("claim-missing", "mask-rcnn-efs"),),
    ),
    Situation(
        "the claim of EFS is bound to nothing",
        S3,
        _leave_claim_pending,
        (error("claim-not-bound", "mask-rcnn-efs"),),
    ),
    Situation(
        "the volume is another file system's",
        S3,
        _bind_another,
        (error("volume-of-another", "mask-rcnn-efs"),),
    ),
    Situation(
        "the namespace has no room for the job's GPUs",
        S3,
        _limit_namespace,
        (warning("namespace-quota-too-small", "instances.count"),),
    ),
    # What pods read.
    Situation(
        "the image is another account's",
        (*S3, "--set", "image=999999999999.dkr.ecr.eu-west-1.amazonaws.com/theirs/image:1"),
        nothing,
        (warning("image-of-another-registry", "image"),),
    ),
    Situation(
        "the pods' image was deleted from ECR",
        S3,
        breaking.lose_image,
        (error("image-missing", "image"),),
    ),
    Situation(
        "the image is larger than the GPU nodes' volume",
        S3,
        partial(breaking.image_is, size_bytes=300 * 2**30),
        (info("image-details", "image"), warning("image-larger-than-volume", "image")),
    ),
    Situation(
        "the GPU nodes' zone has no mount target",
        EFS,
        partial(breaking.delete_mount_target, number=1),
        (error("efs-mount-target-missing", "data_source"),),
    ),
    Situation(
        "the subnet of GPU nodes does not lead to S3",
        S3,
        lambda base: breaking.cut_off_from_s3(base, 1),
        (error("s3-route-missing", "{subnets[1]}"),),
    ),
    Situation(
        "the link of FSx to S3 was deleted for GPU nodes",
        FSX,
        breaking.delete_link,
        (warning("fsx-link-missing", "data_source"),),
    ),
    Situation(
        "the batch is larger than the memory of the GPUs of pods",
        (*S3, "--set", "hyperparameters.batch_size_per_gpu=400"),
        nothing,
        (error("batch-over-gpu-memory", "hyperparameters.batch_size_per_gpu"),),
    ),
    Situation(
        "one of Lustre's ports is closed to pods",
        FSX,
        breaking.close_lustre,
        (error("fsx-ports-closed", "data_source"),),
    ),
    Situation(
        "no data was staged for pods",
        S3,
        lambda base: breaking.lose(base, *FILES),
        (error("data-missing", "channels.train"),),
    ),
    Situation(
        "instances of the GPU nodes may not talk to each other",
        S3,
        lambda base: breaking.close(base, base.jobs, base.jobs),
        (error("job-group-closed", "{jobs}"),),
    ),
    Situation(
        "the API answers inside the VPC alone",
        S3,
        partial(_stale, ApiAccess="private"),
        (info("api-private", "eks_api_cidrs"),),
    ),
)

SOUND = (
    Sound("pods that copy from S3", S3),
    Sound("pods with EFS", EFS),
    Sound("pods with FSx", FSX),
    Sound("pods without EFA", S3, partial(_stale, Efa="false")),
)
