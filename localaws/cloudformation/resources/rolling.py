"""A rolling update: how a group's instances are replaced, batch after batch.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html#cfn-attributes-updatepolicy-rollingupdate
"""

from __future__ import annotations

import math
from typing import Any

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.policies import (
    Operation,
    PolicyFailed,
    RollingUpdate,
    judge,
    seconds,
)
from localaws.cloudformation.resource import Properties
from localaws.cloudformation.signals import Outcome

Group = dict[str, Any]
"""As DescribeAutoScalingGroups shows it."""


def members_of(group: Group | None) -> list[dict[str, Any]]:
    """Return the instances that are in service."""
    return [each for each in (group or {}).get("Instances", []) if _serves(each)]


def _serves(member: dict[str, Any]) -> bool:
    return bool(member["LifecycleState"] == "InService")


def ids_of(group: Group | None) -> set[str]:
    return {member["InstanceId"] for member in members_of(group)}


class Roll:
    """One rolling update of a group."""

    def __init__(self, aws: Aws, name: str, policy: RollingUpdate, operation: Operation) -> None:
        self._aws, self._name = aws, name
        self._groups = aws.client("autoscaling")
        self._policy, self._operation = policy, operation
        self._suspended: list[str] = []
        self._outcome = Outcome(0, 0, 0)
        self._grown_from: Group | None = None
        """The group before it was made larger for a while."""

    def begin(self) -> None:
        """Suspend the processes that the policy names, as far as they go on."""
        paused = {each["ProcessName"] for each in self._shown()["SuspendedProcesses"]}
        self._suspended = [name for name in self._policy.suspended if name not in paused]
        if self._suspended:
            self._groups.suspend_processes(
                AutoScalingGroupName=self._name, ScalingProcesses=self._suspended
            )

    def end(self) -> None:
        """Leave sizes and processes as they were, however it went."""
        if self._grown_from:
            self._restore_sizes(self._grown_from, len(members_of(self._grown_from)))
        if self._suspended:
            self._groups.resume_processes(
                AutoScalingGroupName=self._name, ScalingProcesses=self._suspended
            )

    def await_new(self, ids: set[str]) -> None:
        """Wait for instances that a greater size has added.

        Raises:
            PolicyFailed: Too few are set up.
        """
        if self._policy.waits:
            outcome = self._wait(ids, len(ids))
            judge(outcome, len(ids), self._policy.percent)

    def replace(self, properties: Properties) -> None:
        """Replace the instances that are not as the properties say.

        Raises:
            PolicyFailed: Too few of the new ones are set up.
        """
        group = self._shown()
        obsolete = [each["InstanceId"] for each in self._obsolete(group, properties)]
        if not obsolete:
            return
        size, most = len(members_of(group)), group["MaxSize"]
        least = self._policy.least
        if least >= most:
            raise PolicyFailed(
                f"MinInstancesInService ({least}) must be less than the autoscaling group's "
                f"MaxSize ({most})"
            )
        batch = max(min(self._policy.batch, len(obsolete)), 1)
        room = size - least
        extra = 0 if room > 0 else min(batch, most - size)
        batch = min(batch, room) if room > 0 else max(extra, 1)
        self._announce(len(obsolete), batch)
        if extra:
            self._grow(group, size, extra, len(obsolete))
        done = 0
        while done < len(obsolete):
            ended = obsolete[done : done + batch]
            last = len(obsolete) - done <= extra
            if last:
                self._restore_sizes(group, size + extra)
            self._replace_batch(ended, len(obsolete), shrinks=last)
            done += len(ended)
            progress = round(100 * done / len(obsolete))
            self._operation.tell(
                f"Successfully terminated instance(s) [{','.join(ended)}] (Progress {progress}%)."
            )

    def _obsolete(self, group: Group, properties: Properties) -> list[dict[str, Any]]:
        wanted = self._version(group)
        subnets = set(properties.get("VPCZoneIdentifier") or [])
        where = self._subnets(group) if subnets else {}
        return [
            member
            for member in members_of(group)
            if member.get("LaunchTemplate", {}).get("Version") != wanted
            or (subnets and where[member["InstanceId"]] not in subnets)
        ]

    def _version(self, group: Group) -> str | None:
        template = group.get("LaunchTemplate")
        if template is None:
            return None
        version = self._aws.ec2.describe_launch_template_versions(
            LaunchTemplateId=template["LaunchTemplateId"],
            Versions=[template.get("Version", "$Default")],
        )["LaunchTemplateVersions"][0]["VersionNumber"]
        return str(version)

    def _subnets(self, group: Group) -> dict[str, str]:
        ids = sorted(ids_of(group))
        if not ids:
            return {}
        found = self._aws.ec2.describe_instances(InstanceIds=ids)["Reservations"]
        return {
            instance["InstanceId"]: instance["SubnetId"]
            for reservation in found
            for instance in reservation["Instances"]
        }

    def _announce(self, count: int, batch: int) -> None:
        text = f"Rolling update initiated. Terminating {count} obsolete instance(s) in batches of "
        text += f"{batch}"
        if self._policy.least:
            text += f", while keeping at least {self._policy.least} instance(s) in service"
        text += "."
        if self._policy.waits:
            text += (
                f" Waiting on resource signals with a timeout of {self._policy.pause} when new "
                "instances are added to the autoscaling group."
            )
        self._operation.tell(text)

    def _grow(self, group: Group, size: int, extra: int, total: int) -> None:
        """Add instances first, where none can be spared."""
        self._operation.tell(
            f"Temporarily setting autoscaling group MinSize and DesiredCapacity to {size + extra}."
        )
        before = ids_of(group)
        self._grown_from = group
        self._groups.update_auto_scaling_group(
            AutoScalingGroupName=self._name, MinSize=size + extra, DesiredCapacity=size + extra
        )
        self._hear(before, extra, total)

    def _restore_sizes(self, group: Group, desired: int) -> None:
        self._groups.update_auto_scaling_group(
            AutoScalingGroupName=self._name, MinSize=group["MinSize"], DesiredCapacity=desired
        )
        self._grown_from = None

    def _replace_batch(self, ended: list[str], total: int, *, shrinks: bool) -> None:
        names = ",".join(ended)
        new = 0 if shrinks else len(ended)
        self._operation.tell(
            f"Terminating instance(s) [{names}]; replacing with {new} new instance(s)."
        )
        before = ids_of(self._shown())
        for instance_id in ended:
            self._groups.terminate_instance_in_auto_scaling_group(
                InstanceId=instance_id, ShouldDecrementDesiredCapacity=shrinks
            )
        if new:
            self._hear(before, new, total)

    def _hear(self, before: set[str], count: int, total: int) -> None:
        """Wait for the instances that came, and judge all that was heard so far.

        Raises:
            PolicyFailed: There cannot be enough successes any more.
        """
        if self._policy.waits:
            self._operation.tell(
                f"New instance(s) added to autoscaling group - Waiting on {count} resource "
                f"signal(s) with a timeout of {self._policy.pause}."
            )
        outcome = self._wait(None, count, before)
        so_far = self._outcome
        self._outcome = Outcome(
            so_far.successes + outcome.successes,
            so_far.failures + outcome.failures,
            so_far.missing + outcome.missing,
        )
        judge(self._outcome, total, self._policy.percent)

    def _wait(self, ids: set[str] | None, count: int, before: set[str] = frozenset()) -> Outcome:  # type: ignore[assignment]
        def awaited() -> set[str]:
            return ids if ids is not None else ids_of(self._shown()) - before

        if not self._policy.waits:
            there = min(count, len(awaited()))
            return Outcome(there, 0, count - there)
        return self._operation.wait(count, math.ceil(seconds(self._policy.pause)), awaited)

    def _shown(self) -> Group:
        found = self._groups.describe_auto_scaling_groups(AutoScalingGroupNames=[self._name])
        (group,) = found["AutoScalingGroups"]
        return dict(group)
