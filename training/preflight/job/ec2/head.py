"""The head node, which takes the request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.autoscaling import AutoScaling
from training.aws.ssm import Ssm
from training.platforms.ec2.commands import HEALTH
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class HeadIsThere(Check):
    """The cluster has a head node in service, and Systems Manager reaches it."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "head-missing": "error",
        "head-not-reached": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "autoscaling:DescribeAutoScalingGroups",
        "ssm:DescribeInstanceInformation",
    )

    autoscaling: AutoScaling
    ssm: Ssm
    group_name: str
    by_ssm: bool
    """Whether the request goes by Systems Manager."""

    def find(self) -> Iterator[Finding]:
        group = self.autoscaling.groups([self.group_name]).get(self.group_name)
        if group is None:
            yield self.found(
                "head-missing",
                self.group_name,
                f"there is no auto-scaling group {self.group_name} in this account and region: the "
                "cluster was destroyed, or the outputs are old. Deploy it: cdk deploy ClusterStack",
            )
            return
        heads = [
            each["InstanceId"]
            for each in group["Instances"]
            if each["LifecycleState"] == "InService"
        ]
        if not heads:
            yield self.found(
                "head-missing",
                self.group_name,
                f"the cluster has no head node in service ({self.group_name}): AWS may be starting "
                f"one. Wait some minutes, and see why: {HEALTH}",
            )
        elif self.by_ssm:
            yield from self._judge_reach(heads)

    def _judge_reach(self, heads: list[str]) -> Iterator[Finding]:
        managed = self.ssm.nodes(heads)
        if any(each["PingStatus"] == "Online" for each in managed.values()):
            return
        said = ", ".join(
            f"{name}: {managed[name]['PingStatus'] if name in managed else 'not known'}"
            for name in heads
        )
        yield self.found(
            "head-not-reached",
            heads[0],
            f"Systems Manager does not reach the head node ({said}), by which the job's request "
            f"goes. A new node takes some minutes; see how it is: {HEALTH}",
        )


@dataclass(frozen=True)
class DocumentIsThere(Check):
    """The document is there that hands the request to the head node's program."""

    codes: ClassVar[Mapping[str, Severity]] = {"document-missing": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ssm:DescribeDocument",)

    ssm: Ssm
    name: str

    def find(self) -> Iterator[Finding]:
        status = self.ssm.document_status(self.name)
        if status != "Active":
            yield self.found(
                "document-missing",
                self.name,
                f"Systems Manager has no document {self.name}"
                f"{f' that is active ({status})' if status else ''}: deploy ClusterStack again, or "
                "read its outputs anew (leave --outputs-file out)",
            )
