"""Reads the stacks' outputs from CloudFormation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from training.aws.client import where
from training.aws.errors import AwsRefused, translated
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
            stacks[name] = {
                output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])
            }
    return Outputs(stacks, source=source)


def _describe(client: Any, name: str) -> dict[str, Any] | None:
    try:
        with translated():
            answer = client.describe_stacks(StackName=name)
    except AwsRefused as error:
        # CloudFormation has no code of its own for this.
        if error.code == "ValidationError" and "does not exist" in str(error):
            return None
        raise
    stack: dict[str, Any] = answer["Stacks"][0]
    # A change set that was never executed leaves a stack of this state, with nothing in it.
    return None if stack["StackStatus"] == "REVIEW_IN_PROGRESS" else stack


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
