"""Systems Manager: parameters, and commands that managed nodes run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask, ask_all

Description = dict[str, Any]
"""Of one thing, in AWS's spelling."""

MAX_OUTPUT = 24_000
"""Bytes of a command's output that GetCommandInvocation gives; what is longer is cut off.

AWS's page says characters, and the agent on the node, which cuts, counts bytes:
https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html
https://github.com/aws/amazon-ssm-agent/blob/mainline/agent/plugins/pluginutil/pluginutil.go
"""


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """A command on one node."""

    instance_id: str
    status: str
    """SSM's StatusDetails, such as `Success`, `InProgress` or `DeliveryTimedOut`.

    https://docs.aws.amazon.com/systems-manager/latest/userguide/monitor-commands.html
    """
    output: str = ""
    errors: str = ""


class Ssm:
    """AWS Systems Manager."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def parameter(self, name: str) -> str | None:
        """Return a parameter's value; None where there is none of that name."""
        try:
            value: str = ask(self._client, "get_parameter", Name=name)["Parameter"]["Value"]
        except AwsRefused as error:
            if error.code == "ParameterNotFound":
                return None
            raise
        return value

    def send_command(self, body: Mapping[str, Any]) -> str:
        """Hand a command to nodes; return its id."""
        return str(ask(self._client, "send_command", **body)["Command"]["CommandId"])

    def command_status(self, command_id: str) -> str | None:
        """Return the StatusDetails of a command as a whole, such as `NoInstancesInTag`.

        None where it is not known (yet): the answers of AWS may lag behind what was sent.
        """
        found = ask(self._client, "list_commands", CommandId=command_id)["Commands"]
        if not found:
            return None
        return _status(found[0])

    def invocations(self, command_id: str) -> list[Invocation]:
        """Return a command's nodes so far, without what it said there.

        Those of a command that names a tag come some moments later.
        """
        found = ask_all(
            self._client, "list_command_invocations", "CommandInvocations", CommandId=command_id
        )
        return [
            Invocation(
                instance_id=each["InstanceId"],
                status=_status(each),
            )
            for each in found
        ]

    def invocation(self, command_id: str, instance_id: str) -> Invocation | None:
        """Return a command on one node, with at most `MAX_OUTPUT` bytes of what it said.

        None where it has not got there yet.
        """
        try:
            found = ask(
                self._client,
                "get_command_invocation",
                CommandId=command_id,
                InstanceId=instance_id,
            )
        except AwsRefused as error:
            if error.code == "InvocationDoesNotExist":
                return None
            raise
        return Invocation(
            instance_id=instance_id,
            status=_status(found),
            output=found.get("StandardOutputContent", ""),
            errors=found.get("StandardErrorContent", ""),
        )

    def cancel_command(self, command_id: str) -> None:
        """Take back a command that no node has begun; one that runs is asked to end."""
        ask(self._client, "cancel_command", CommandId=command_id)

    def document_status(self, name: str) -> str | None:
        """Return a document's status, such as `Active`; None where there is none of that name."""
        try:
            found = ask(self._client, "describe_document", Name=name)["Document"]
        except AwsRefused as error:
            if error.code == "InvalidDocument":
                return None
            raise
        return str(found["Status"])

    def nodes(self, instance_ids: list[str]) -> dict[str, Description]:
        """Return those of some instances that Systems Manager manages, by instance id."""
        filters = [{"Key": "InstanceIds", "Values": instance_ids}]
        found = ask_all(
            self._client,
            "describe_instance_information",
            "InstanceInformationList",
            Filters=filters,
        )
        return {each["InstanceId"]: each for each in found}


def _status(found: Description) -> str:
    """Return the StatusDetails without the blanks that AWS's pages, and some answers, have."""
    return str(found.get("StatusDetails") or found["Status"]).replace(" ", "")
