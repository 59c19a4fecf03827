"""Elastic file systems."""

from __future__ import annotations

from typing import Any

from training.aws.errors import AwsRefused
from training.aws.policy import Policy
from training.aws.request import ask, ask_all


class Efs:
    """Amazon EFS."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def file_system(self, file_system_id: str) -> dict[str, Any] | None:
        """Return a file system; None where there is none of that id."""
        try:
            answer = ask(self._client, "describe_file_systems", FileSystemId=file_system_id)
        except AwsRefused as error:
            if error.code == "FileSystemNotFound":
                return None
            raise
        return next(iter(answer["FileSystems"]), None)

    def mount_targets(self, file_system_id: str) -> list[dict[str, Any]]:
        """Return a file system's mount targets that are there or about to be."""
        found = ask_all(
            self._client, "describe_mount_targets", "MountTargets", FileSystemId=file_system_id
        )
        return [
            target for target in found if target["LifeCycleState"] not in ("deleting", "deleted")
        ]

    def security_group_ids(self, mount_target_id: str) -> list[str]:
        """Return the security groups of a mount target."""
        answer = ask(
            self._client, "describe_mount_target_security_groups", MountTargetId=mount_target_id
        )
        return list(answer["SecurityGroups"])

    def policy(self, file_system_id: str) -> Policy | None:
        """Return a file system's policy; None where it has none, which lets every client in."""
        try:
            answer = ask(self._client, "describe_file_system_policy", FileSystemId=file_system_id)
        except AwsRefused as error:
            if error.code == "PolicyNotFound":
                return None
            raise
        return Policy.parse(answer["Policy"])
