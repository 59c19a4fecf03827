"""A copy to send somewhere else, and the stacks that it is planned with."""

from __future__ import annotations

from typing import Any

from tests.training.platforms.ec2.planning import CLUSTER
from tests.training.platforms.sagemaker.planning import ACCOUNT, STACKS
from training.data.on.errand import Errand, Task, of_stage
from training.data.places import Place
from training.data.request import StageRequest
from training.outputs import Outputs, StorageOutputs

KUBERNETES = {
    "ClusterName": "mask-rcnn",
    "ClusterArn": f"arn:aws:eks:us-west-2:{ACCOUNT}:cluster/mask-rcnn",
    "ApiAccess": "private",
    "KubernetesVersion": "1.35",
    "Namespace": "kubeflow",
    "ServiceAccount": "mask-rcnn",
    "GpuNodeGroup": "gpu",
    "GpuInstanceType": "p4d.24xlarge",
    "MostGpuNodes": "4",
    "GpuVolumeGib": "200",
    "GpuZones": "us-west-2b",
    "EfsAccessPointId": "fsap-0123456789abcdef0",
    "Efa": "false",
    "Spot": "false",
    "SystemInstanceType": "m6i.large",
    "SystemNodes": "2",
    "AutoscalerRoleArn": f"arn:aws:iam::{ACCOUNT}:role/autoscaler",
    "JobRoleArn": f"arn:aws:iam::{ACCOUNT}:role/job",
    "NodeRoleArn": f"arn:aws:iam::{ACCOUNT}:role/node",
    "LogGroupName": "/aws/eks/mask-rcnn/cluster",
}
IMAGE = f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/horovod:0123456789abcdef"


def outputs(**cluster: str | None) -> Outputs:
    """Return the stacks' outputs, some of ClusterStack's set otherwise; None leaves one out."""
    kept = {key: value for key, value in {**CLUSTER, **cluster}.items() if value is not None}
    stacks = {**STACKS, "ClusterStack": kept, "KubernetesStack": KUBERNETES}
    return Outputs(stacks, source="outputs.json")


def stage_request(**changes: Any) -> StageRequest:
    given = {"source": None, "from_place": None, "to": Place.EFS, "path": "a/train", "jobs": 8}
    return StageRequest(**{**given, **changes})


def errand(name: str = "stage-one", **changes: Any) -> Errand:
    return of_task(of_stage(stage_request(**changes)), name)


def of_task(task: Task, name: str = "stage-one") -> Errand:
    return Errand(
        name=name,
        command=task.command,
        places=task.places,
        storage=outputs().read(StorageOutputs),
        image=IMAGE,
        max_run_s=3600,
    )
