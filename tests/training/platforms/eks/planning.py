"""Plans for the tests of the platform `eks`: stack outputs on top of those of `sagemaker`'s."""

from __future__ import annotations

from typing import Any

import yaml

from tests.training.platforms.sagemaker.planning import ACCOUNT, REGISTRY, STACKS, launch
from training.job import Job, read_job
from training.outputs import Outputs
from training.platforms.api import Launch, Plan
from training.platforms.eks import platform
from training.platforms.eks.request import EksRequest

REGION = "us-west-2"

KUBERNETES = {
    "ClusterName": "mask-rcnn",
    "ClusterArn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/mask-rcnn",
    "ApiAccess": "private",
    "KubernetesVersion": "1.35",
    "Namespace": "kubeflow",
    "ServiceAccount": "mask-rcnn",
    "GpuNodeGroup": "gpu-ABC",
    "GpuInstanceType": "p4d.24xlarge",
    "MostGpuNodes": "8",
    "GpuVolumeGib": "200",
    "GpuZones": "us-west-2b",
    "EfsAccessPointId": "fsap-0123456789abcdef0",
    "Efa": "true",
    "Spot": "false",
    "SystemInstanceType": "m6i.large",
    "SystemNodes": "2",
    "AutoscalerRoleArn": f"arn:aws:iam::{ACCOUNT}:role/autoscaler",
    "JobRoleArn": f"arn:aws:iam::{ACCOUNT}:role/job",
    "NodeRoleArn": f"arn:aws:iam::{ACCOUNT}:role/node",
    "LogGroupName": "/aws/eks/mask-rcnn/cluster",
}

IMAGE = f"{REGISTRY}/mask-rcnn/horovod:0123456789abcdef"


def outputs(**kubernetes: str | None) -> Outputs:
    """Return the stacks' outputs, some of KubernetesStack's set otherwise; None leaves one out."""
    changed = {**KUBERNETES, **kubernetes}
    kept = {key: value for key, value in changed.items() if value is not None}
    return Outputs({**STACKS, "KubernetesStack": kept}, source="outputs.json")


def make_job(**overrides: Any) -> Job:
    """Return a job for the cluster; a double underscore stands for a key's dot."""
    keys = {name.replace("__", "."): value for name, value in overrides.items()}
    return read_job(None, {"platform": "eks", "image": IMAGE, "instances.count": 2, **keys})


def plan(
    *, stacks: Outputs | None = None, launched: Launch | None = None, **overrides: Any
) -> Plan:
    return platform.plan(make_job(**overrides), stacks or outputs(), launched or launch())


def request(**options: Any) -> EksRequest:
    found = plan(**options).request
    assert isinstance(found, EksRequest)
    return found


def objects(found: EksRequest) -> dict[str, dict[str, Any]]:
    """Return a request's objects by kind, of which there is one each."""
    return by_kind(found.manifest)


def by_kind(manifest: str) -> dict[str, dict[str, Any]]:
    """Return a manifest's objects by kind, of which there is one each."""
    # In Python alone, to read one takes longer than helm takes to make it.
    documents = [each for each in yaml.load_all(manifest, yaml.CSafeLoader) if each]
    found = {each["kind"]: each for each in documents}
    assert len(found) == len(documents)
    return found
