"""Plans for the tests of the platform `ec2`: stack outputs on top of those of `sagemaker`'s."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.training.platforms.sagemaker.planning import ACCOUNT, STACKS, launch
from training.job import Job, read_job
from training.outputs import Outputs
from training.platforms.api import Launch, Plan
from training.platforms.ec2 import platform
from training.platforms.ec2.request import Ec2Request

REGION = "us-west-2"

CLUSTER = {
    "ClusterName": "mask-rcnn",
    "HeadGroupName": "ClusterStack-Head-ABC",
    "WorkerGroupName": "ClusterStack-Workers-DEF",
    "HeadInstanceType": "m6i.xlarge",
    "WorkerInstanceType": "p4d.24xlarge",
    "MostWorkers": "8",
    "RunsIn": "image",
    "DocumentName": "ClusterStack-Request-GHI",
    "LogGroupName": "/mask-rcnn/cluster",
    "KeySecretArn": f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:ClusterKeys-abcdef",
    "Zone": "us-west-2b",
    "EfsMount": "/efs",
    "FsxMount": "/fsx",
    "HeadRoleArn": f"arn:aws:iam::{ACCOUNT}:role/head",
    "WorkerRoleArn": f"arn:aws:iam::{ACCOUNT}:role/worker",
    "Spot": "false",
}

REQUESTS = Path(__file__).resolve().parents[3] / "node" / "requests"
"""What the launcher writes and the nodes read: tests of both sides go through them."""


def outputs(**cluster: str | None) -> Outputs:
    """Return the stacks' outputs, some of ClusterStack's set otherwise; None leaves one out."""
    changed = {**CLUSTER, **cluster}
    kept = {key: value for key, value in changed.items() if value is not None}
    return Outputs({**STACKS, "ClusterStack": kept}, source="outputs.json")


def make_job(**overrides: Any) -> Job:
    """Return a job for the cluster; a double underscore stands for a key's dot."""
    keys = {name.replace("__", "."): value for name, value in overrides.items()}
    image = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/mask-rcnn/horovod:0123456789abcdef"
    return read_job(None, {"platform": "ec2", "image": image, "instances.count": 2, **keys})


def plan(
    *, stacks: Outputs | None = None, launched: Launch | None = None, **overrides: Any
) -> Plan:
    return platform.plan(make_job(**overrides), stacks or outputs(), launched or launch())


def request(**options: Any) -> Ec2Request:
    found = plan(**options).request
    assert isinstance(found, Ec2Request)
    return found


def document(**options: Any) -> dict[str, Any]:
    """Return what the head node's program is to read."""
    found: dict[str, Any] = json.loads(json.dumps(request(**options).document))
    return found
