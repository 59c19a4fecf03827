"""The roles that FSx makes with the deployer's rights."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    ACCOUNT,
    REGION,
    Stub,
    codes_of,
    only_finding_of,
)
from training.aws.iam import Iam
from training.aws.sts import Identity
from training.preflight.stacks.deployer import Deployer
from training.preflight.stacks.fsx_roles import LINK_ACTIONS, FsxRolesCanBeMade

FOLDER = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role"
CFN_ROLE = f"cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{REGION}"
CFN_ARN = f"arn:aws:iam::{ACCOUNT}:role/{CFN_ROLE}"
USER = f"arn:aws:iam::{ACCOUNT}:user/me"


def role(name: str, arn: str | None) -> Any:
    answer = "NoSuchEntity" if arn is None else {"Role": {**ROLE, "RoleName": name, "Arn": arn}}
    return ("get_role", answer, {"RoleName": name})


ROLE = {"Path": "/", "RoleId": "AROAAAAAAAAAAAAAAAAA", "CreateDate": 0}
OF_FSX = role(
    "AWSServiceRoleForAmazonFSx", f"{FOLDER}/fsx.amazonaws.com/AWSServiceRoleForAmazonFSx"
)
NOT_OF_FSX = role("AWSServiceRoleForAmazonFSx", None)
DEPLOYS = role(CFN_ROLE, CFN_ARN)


def simulation(
    principal: str, actions: tuple[str, ...], service: str, name: str, *denied: str
) -> Any:
    context = {
        "ContextKeyName": "iam:AWSServiceName",
        "ContextKeyValues": [service],
        "ContextKeyType": "string",
    }
    request = {
        "PolicySourceArn": principal,
        "ActionNames": list(actions),
        "ResourceArns": [f"{FOLDER}/{service}/AWSServiceRoleFor{name}"],
        "ContextEntries": [context],
    }
    results = [
        {
            "EvalActionName": action,
            "EvalDecision": "explicitDeny" if action in denied else "allowed",
        }
        for action in actions
    ]
    return ("simulate_principal_policy", {"EvaluationResults": results}, request)


def own_role(principal: str, *denied: str) -> Any:
    create = ("iam:CreateServiceLinkedRole",)
    return simulation(principal, create, "fsx.amazonaws.com", "AmazonFSx", *denied)


def link_role(principal: str, *denied: str) -> Any:
    service, name = "s3.data-source.lustre.fsx.amazonaws.com", "FSxS3Access_fs-0123456789abcdef0"
    return simulation(principal, LINK_ACTIONS, service, name, *denied)


def check(
    stub: Stub, *calls: Any, is_linked: bool = True, identity: str = USER
) -> FsxRolesCanBeMade:
    deployer = Deployer(Iam(stub("iam", *calls)), Identity(ACCOUNT, identity), REGION, "hnb659fds")
    return FsxRolesCanBeMade(deployer=deployer, is_linked=is_linked)


def test_what_is_there_and_what_may_be_made_pass(stub: Stub) -> None:
    assert codes_of(check(stub, OF_FSX, is_linked=False)) == []
    assert codes_of(check(stub, OF_FSX, DEPLOYS, link_role(CFN_ARN))) == []
    calls = (NOT_OF_FSX, DEPLOYS, own_role(CFN_ARN), DEPLOYS, link_role(CFN_ARN))
    assert codes_of(check(stub, *calls)) == []


def test_the_first_file_system_of_an_account_needs_a_role_too(stub: Stub) -> None:
    denied = own_role(CFN_ARN, "iam:CreateServiceLinkedRole")
    calls = (NOT_OF_FSX, DEPLOYS, denied, DEPLOYS)
    finding = only_finding_of(check(stub, *calls, is_linked=False), "fsx-roles-not-permitted")
    assert finding.path == "fsx"
    assert f"{CFN_ARN}, which deploys, may not iam:CreateServiceLinkedRole" in finding.message


def test_the_missing_rights_of_a_link_are_named(stub: Stub) -> None:
    denied = link_role(CFN_ARN, "iam:AttachRolePolicy", "iam:PutRolePolicy")
    finding = only_finding_of(
        check(stub, OF_FSX, DEPLOYS, denied, DEPLOYS), "fsx-roles-not-permitted"
    )
    assert finding.path == "fsx_bucket_link"
    assert "may not iam:AttachRolePolicy and iam:PutRolePolicy on" in finding.message


@pytest.mark.parametrize(
    ("identity", "more", "principal"),
    [
        (USER, [], USER),
        (
            f"arn:aws:sts::{ACCOUNT}:assumed-role/Admin/session",
            [role("Admin", f"arn:aws:iam::{ACCOUNT}:role/path/Admin")],
            f"arn:aws:iam::{ACCOUNT}:role/path/Admin",
        ),
    ],
)
def test_without_the_role_of_the_cdk_the_caller_deploys(
    stub: Stub, identity: str, more: list[Any], principal: str
) -> None:
    calls = (OF_FSX, role(CFN_ROLE, None), *more, link_role(principal))
    assert codes_of(check(stub, *calls, identity=identity)) == []


def test_no_policy_binds_the_root_user(stub: Stub) -> None:
    root = f"arn:aws:iam::{ACCOUNT}:root"
    assert codes_of(check(stub, OF_FSX, role(CFN_ROLE, None), identity=root)) == []
