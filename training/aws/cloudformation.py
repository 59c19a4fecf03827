"""The stacks, as CloudFormation knows them: their outputs and their states."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from training.aws.client import where
from training.aws.errors import AwsRefused
from training.aws.request import ask, ask_all
from training.errors import AwsError
from training.outputs import Outputs, StackOutputs

_READY = (
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_ROLLBACK_COMPLETE",
    "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
    "IMPORT_COMPLETE",
    "IMPORT_ROLLBACK_COMPLETE",
)
"""States in which a stack's resources and outputs belong together; the one before stands where an
update was rolled back."""


class CloudFormation:
    """AWS CloudFormation, for checks."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def stack(self, name: str) -> dict[str, Any] | None:
        """Return a stack; None where there is none of that name."""
        return _describe(self._client, name)

    def outputs(self, name: str) -> dict[str, str]:
        """Return a stack's outputs, whatever its state; none where there is no such stack."""
        return _outputs_of(self.stack(name) or {})

    def resource_ids(self, name: str) -> frozenset[str]:
        """Return the physical ids of what a stack holds; none where there is no such stack."""
        try:
            found = ask_all(
                self._client, "list_stack_resources", "StackResourceSummaries", StackName=name
            )
        except AwsRefused as error:
            if _is_missing(error):
                return frozenset()
            raise
        return frozenset(
            each["PhysicalResourceId"]
            for each in found
            if each.get("PhysicalResourceId") and each["ResourceStatus"] != "DELETE_COMPLETE"
        )

    def metadata(self, name: str) -> dict[str, Any]:
        """Return the Metadata of the template of a stack that is there."""
        summary = ask(self._client, "get_template_summary", StackName=name)
        found: dict[str, Any] = json.loads(summary.get("Metadata") or "{}")
        return found


def read_outputs_from_cloudformation(client: Any, stack_names: Iterable[str]) -> Outputs:
    """Return the outputs of those stacks that are there.

    Args:
        client: A CloudFormation client (`training.aws.client.new_client`).
        stack_names: CloudFormation's names. One that is not there is left out; reading it from the
            result says so.

    Raises:
        AwsError: A stack is being made or deleted, or failed; or AWS refused or did not answer.
    """
    source = where(client)
    stacks: dict[str, StackOutputs] = {}
    for name in stack_names:
        stack = _describe(client, name)
        if stack is not None:
            _check_ready(source, name, stack)
            stacks[name] = _outputs_of(stack)
    return Outputs(stacks, source=source)


def _describe(client: Any, name: str) -> dict[str, Any] | None:
    try:
        answer = ask(client, "describe_stacks", StackName=name)
    except AwsRefused as error:
        if _is_missing(error):
            return None
        raise
    stack: dict[str, Any] = answer["Stacks"][0]
    # A change set that was never executed leaves a stack of this state, with nothing in it.
    return None if stack["StackStatus"] == "REVIEW_IN_PROGRESS" else stack


def _is_missing(error: AwsRefused) -> bool:
    """Return whether there is no such stack; CloudFormation has no code of its own for this."""
    return error.code == "ValidationError" and "does not exist" in str(error)


def _outputs_of(stack: Mapping[str, Any]) -> dict[str, str]:
    return {found["OutputKey"]: found["OutputValue"] for found in stack.get("Outputs", [])}


def _check_ready(source: str, name: str, stack: dict[str, Any]) -> None:
    status = stack["StackStatus"]
    if status in _READY:
        return
    reason = f" ({stack['StackStatusReason']})" if stack.get("StackStatusReason") else ""
    if status.endswith("_IN_PROGRESS"):
        remedy = "Wait until it is done and run the command again"
    elif status in ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"):
        remedy = f"Delete it (cdk destroy {name}) and deploy it again: cdk deploy {name}"
    elif status == "DELETE_COMPLETE":
        remedy = f"Deploy it: cdk deploy {name}"
    else:
        remedy = f"Bring it to a good state (cdk rollback {name}, cdk deploy {name})"
    raise AwsError(f"{source}: {name} is {status}{reason}. {remedy}")
