"""Whom every policy lets do what, whatever the settings."""

from __future__ import annotations

import pytest

from tests.stacks import iam_actions
from tests.stacks.matrix import MATRIX, Synthesize
from tests.stacks.statements import ENDPOINT_POLICY, KEY_POLICY, statements

every_row = pytest.mark.parametrize("row", MATRIX)

# An instance takes its role from EC2 itself, which sends no source account.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/iam-roles-for-amazon-ec2.html
WITHOUT_SOURCE = ("ec2.",)

SOURCES = {"aws:SourceAccount", "aws:SourceArn", "kms:EncryptionContext:aws:logs:arn"}
"""Each names the account for whose resource a service calls."""

ITS_RESOURCE_IS_ANOTHER = {
    "cloudwatch:PutMetricData": "a dataset, of which an account has one; metrics are told apart by "
    "their namespace, which is a condition",
}

NARROWING = {
    "aws:PrincipalAccount",
    "kms:CallerAccount",
    # To clients that the security group of a mount target lets through.
    # https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
    "elasticfilesystem:AccessedViaMountTarget",
}
"""What holds a statement about everybody to some."""


@every_row
def test_no_statement_allows_a_wildcard_action_outside_key_policies(
    row: str, synth: Synthesize
) -> None:
    wild = [
        (each.where, action)
        for each in statements(synth(row))
        if each.is_allow and each.resource_type != KEY_POLICY
        for action in each.actions
        if "*" in action
    ]
    assert wild == []


@every_row
def test_every_action_exists(row: str, synth: Synthesize) -> None:
    actions = {action for each in statements(synth(row)) for action in each.actions}
    assert [action for action in actions if not iam_actions.exists(action)] == []


@every_row
def test_any_resource_is_allowed_only_where_iam_knows_no_finer(row: str, synth: Synthesize) -> None:
    """But in policies of keys, where it is the key, and of endpoints, which only narrow."""
    too_wide = [
        (each.where, action)
        for each in statements(synth(row))
        if each.is_allow and "*" in each.resources
        if each.resource_type not in (KEY_POLICY, ENDPOINT_POLICY)
        for action in each.actions
        if iam_actions.takes_resource(action) and action not in ITS_RESOURCE_IS_ANOTHER
    ]
    assert too_wide == []


@every_row
def test_only_the_account_itself_may_do_everything_with_a_key(row: str, synth: Synthesize) -> None:
    for each in statements(synth(row)):
        if each.resource_type == KEY_POLICY and "kms:*" in each.actions:
            assert list(each.principals) == ["AWS"], each.where
            [principal] = each.principals["AWS"]
            account = MATRIX[row].get("aws_account", "{'Ref': 'AWS::AccountId'}")
            assert str(account) in str(principal), each.where
            assert ":root" in str(principal), each.where


@every_row
def test_everybody_is_named_only_under_a_condition_or_for_an_endpoint(
    row: str, synth: Synthesize
) -> None:
    """An endpoint's policy only narrows what the caller's own policies allow."""
    for each in statements(synth(row)):
        everybody = each.is_allow and "*" in each.principals.get("AWS", [])
        if everybody and each.resource_type != ENDPOINT_POLICY:
            assert each.condition_keys & NARROWING, each.where


@every_row
def test_a_service_acts_only_for_this_account(row: str, synth: Synthesize) -> None:
    """Else anyone could have it act on our resources (the confused deputy)."""
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
    for each in statements(synth(row)):
        for service in each.principals.get("Service", []):
            if each.is_allow and not str(service).startswith(WITHOUT_SOURCE):
                assert SOURCES & each.condition_keys, f"{each.where}: {service}"


@every_row
def test_a_role_is_passed_to_one_service_only(row: str, synth: Synthesize) -> None:
    for each in statements(synth(row)):
        if each.is_allow and "iam:PassRole" in each.actions:
            assert each.conditions["StringEquals"]["iam:PassedToService"], each.where
            assert not [arn for arn in each.resources if "*" in str(arn)], each.where


@every_row
def test_roles_have_no_inline_and_no_managed_policy_of_aws(row: str, synth: Synthesize) -> None:
    for template in synth(row).templates.values():
        for logical_id, resource in template["Resources"].items():
            assert resource["Type"] not in ("AWS::IAM::Policy", "AWS::IAM::UserPolicy"), logical_id
            if resource["Type"] == "AWS::IAM::Role":
                managed = resource["Properties"].get("ManagedPolicyArns", [])
                assert "Policies" not in resource["Properties"], logical_id
                assert not [arn for arn in managed if ":aws:policy" in str(arn)], logical_id
