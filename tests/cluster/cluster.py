"""The real ClusterStack on a local AWS whose instances are hosts, and what tests do to them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app import build_app
from localaws.hosts.metadata import TAG_PREFIX
from localaws.hosts.shell import init_of
from tests.conftest import LocalAws, localaws, running_local_aws
from tests.waiting import wait_for

TOOLKIT_PARAMETER = "/cdk-bootstrap/hnb659fds/version"
STACKS = ("NetworkStack", "StorageStack", "RegistryStack", "ClusterStack")
ACCOUNT, REGION = "123456789012", "us-east-1"
BUCKET = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"

CONTEXT = {
    "cluster_runs_in": "environment",
    "cluster_environment": sys.prefix,
    "cluster_head_instance_type": "m6i.xlarge",
    "cluster_worker_instance_type": "m6i.2xlarge",
    "cluster_max_workers": 3,
    "cluster_setup_minutes": 10,
}
"""Machines without GPUs, and the virtual environment of this one: nothing is downloaded."""


@dataclass(frozen=True)
class Cluster:
    """A deployed ClusterStack."""

    aws: LocalAws
    outputs_file: Path
    outputs: dict[str, str]

    def group(self, role: str) -> dict[str, Any]:
        """Return a group, `head` or `worker`, as AWS describes it."""
        name = self.outputs[f"{role.title()}GroupName"]
        client = self.aws.client("autoscaling")
        (found,) = client.describe_auto_scaling_groups(AutoScalingGroupNames=[name])[
            "AutoScalingGroups"
        ]
        return dict(found)

    def instances(self, role: str) -> list[str]:
        """Return the ids of a group's instances that are in service."""
        members = self.group(role)["Instances"]
        return [each["InstanceId"] for each in members if each["LifecycleState"] == "InService"]

    def resize(self, workers: int) -> None:
        """Set the worker group's desired size."""
        self.aws.client("autoscaling").set_desired_capacity(
            AutoScalingGroupName=self.outputs["WorkerGroupName"], DesiredCapacity=workers
        )

    @property
    def efs(self) -> Path:
        """The folder that all nodes have at /efs."""
        (file_system,) = self.aws.client("efs").describe_file_systems()["FileSystems"]
        return self.aws.mounts / file_system["FileSystemId"]

    def registered(self) -> dict[str, dict[str, Any]]:
        """Return the fresh registrations of nodes that are ready, by instance id."""
        folder = self.efs / "mask-rcnn/clusters" / self.outputs["ClusterName"] / "nodes"
        found = {}
        for file in folder.glob("i-*.json"):
            node = json.loads(file.read_text("utf-8"))
            if node["state"] == "ready" and time.time() - node["time"] < 30:
                found[node["instance_id"]] = node
        return found

    def wait_for_nodes(self, workers: int, patience_s: float = 90.0) -> None:
        """Wait until the head and so many workers are ready."""

        def ready() -> bool:
            nodes = self.registered()
            up = [each for each in self.instances("worker") if each in nodes]
            return len(up) == workers and all(each in nodes for each in self.instances("head"))

        wait_for(ready, f"the head and {workers} workers", patience_s)

    def notify_spot(self, instance_id: str) -> None:
        """Let AWS say, two minutes ahead, that it takes an instance back."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 120))
        notice = {"Key": f"{TAG_PREFIX}spot/instance-action"}
        notice["Value"] = json.dumps({"action": "terminate", "time": when})
        self.aws.client("ec2").create_tags(Resources=[instance_id], Tags=[notice])

    def update(self, folder: Path, **context: Any) -> None:
        """Deploy ClusterStack again with other settings."""
        build_app(CONTEXT | context, outdir=str(folder)).synth()
        _bring(self.aws, folder, "ClusterStack", BUCKET, is_new=False)

    def kill(self, instance_id: str) -> None:
        """Let a host die, as when its power fails."""
        record = json.loads((self.aws.state_dir / "server.json").read_text("utf-8"))
        import os
        import signal

        os.kill(init_of(record["pid"], instance_id), signal.SIGKILL)


@contextmanager
def running_cluster(folder: Path, context: dict[str, Any]) -> Iterator[Cluster]:
    """Deploy the stacks to a local AWS with hosts; everything goes away in the end."""
    with running_local_aws(folder / "aws", hosts=True) as aws:
        outputs = _deploy(aws, folder / "cdk.out", CONTEXT | context)
        file = folder / "outputs.json"
        file.write_text(json.dumps(outputs), encoding="utf-8")
        yield Cluster(aws, file, outputs["ClusterStack"])
    localaws("stop", "--discard", "--state-dir", folder / "aws")


def _deploy(aws: LocalAws, assembly: Path, context: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Do what `cdk deploy` does; return the stacks' outputs, as it writes them to a file."""
    build_app(context, outdir=str(assembly)).synth()
    aws.client("ssm").put_parameter(Name=TOOLKIT_PARAMETER, Value="30", Type="String")
    aws.client("s3").create_bucket(Bucket=BUCKET)
    return {name: _bring(aws, assembly, name, BUCKET) for name in STACKS}


def _bring(
    aws: LocalAws, assembly: Path, name: str, bucket: str, *, is_new: bool = True
) -> dict[str, str]:
    s3, cloudformation = aws.client("s3"), aws.client("cloudformation")
    manifest = json.loads((assembly / f"{name}.assets.json").read_text("utf-8"))
    for file in manifest["files"].values():
        (destination,) = file["destinations"].values()
        content = (assembly / file["source"]["path"]).read_bytes()
        s3.put_object(Bucket=bucket, Key=destination["objectKey"], Body=content)
    template = f"{name}.template.json"
    s3.put_object(Bucket=bucket, Key=template, Body=(assembly / template).read_bytes())
    deploy = cloudformation.create_stack if is_new else cloudformation.update_stack
    deploy(
        StackName=name,
        TemplateURL=f"https://{bucket}.s3.{REGION}.amazonaws.com/{template}",
        Capabilities=["CAPABILITY_NAMED_IAM"],
    )

    def made() -> dict[str, Any] | None:
        (stack,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
        return None if stack["StackStatus"].endswith("_IN_PROGRESS") else stack

    stack = wait_for(made, f"the deployment of {name}", 400.0)
    if stack["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        reasons = [each.get("ResourceStatusReason") for each in reversed(events)]
        pytest.fail(f"{name}: {[reason for reason in reasons if reason]}")
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}
