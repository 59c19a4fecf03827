"""What earlier deploys left."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.training.preflight.stacks.conftest import Stub, codes_of
from training.aws.cloudformation import CloudFormation
from training.preflight.stacks.stack_states import StacksCanBeDeployed


def check(stub: Stub, status: str, *, protected: bool = False) -> StacksCanBeDeployed:
    stack = {
        "StackName": "NetworkStack",
        "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
        "StackStatus": status,
        "EnableTerminationProtection": protected,
    }
    request = {"StackName": "NetworkStack"}
    client = stub("cloudformation", ("describe_stacks", {"Stacks": [stack]}, request))
    return StacksCanBeDeployed(CloudFormation(client), ["NetworkStack"])


@pytest.mark.parametrize(
    ("status", "code", "remedy"),
    [
        ("CREATE_COMPLETE", None, ""),
        ("UPDATE_COMPLETE", None, ""),
        ("UPDATE_ROLLBACK_COMPLETE", None, ""),
        ("IMPORT_COMPLETE", None, ""),
        ("REVIEW_IN_PROGRESS", None, ""),
        ("CREATE_IN_PROGRESS", "stack-busy", "Wait until it is done"),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "stack-busy", "Wait until it is done"),
        ("DELETE_IN_PROGRESS", "stack-busy", "Wait until it is done"),
        ("ROLLBACK_COMPLETE", "stack-made-again", "cdk deploy deletes what is left"),
        ("ROLLBACK_FAILED", "stack-made-again", "cdk deploy deletes what is left"),
        ("CREATE_FAILED", "stack-broken", "cdk rollback NetworkStack"),
        ("UPDATE_FAILED", "stack-broken", "cdk rollback NetworkStack"),
        ("UPDATE_ROLLBACK_FAILED", "stack-broken", "cdk rollback NetworkStack"),
        ("DELETE_FAILED", "stack-broken", "cdk destroy NetworkStack"),
    ],
)
def test_each_state_has_its_remedy(stub: Stub, status: str, code: str | None, remedy: str) -> None:
    findings = list(check(stub, status).find())
    assert [finding.code for finding in findings] == ([code] if code else [])
    assert all(remedy in finding.message and status in finding.message for finding in findings)


def test_a_failed_stack_that_is_protected_cannot_be_made_again(stub: Stub) -> None:
    assert codes_of(check(stub, "ROLLBACK_COMPLETE", protected=True)) == ["stack-protected"]


def test_a_stack_that_is_not_there_passes(stub: Stub) -> None:
    answer = "ValidationError: Stack with id One does not exist"
    client = stub("cloudformation", ("describe_stacks", answer, {"StackName": "One"}))
    assert codes_of(StacksCanBeDeployed(CloudFormation(client), ["One"])) == []
