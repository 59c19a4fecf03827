"""Log groups, made and changed by a stack."""

from __future__ import annotations

from typing import Any

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def logs(**properties: Any) -> Resources:
    return {
        "Key": {"Type": "AWS::KMS::Key"},
        "Logs": {"Type": "AWS::Logs::LogGroup", "Properties": properties},
    }


def test_retention_and_key_change_in_place(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(logs(RetentionInDays=30))
    ids, client = stack.ids(), local_aws.client("logs")

    def describe() -> dict[str, Any]:
        answer = client.describe_log_groups(logGroupNamePrefix=ids["Logs"])
        return dict(answer["logGroups"][0])

    assert describe()["retentionInDays"] == 30
    key = {"Fn::GetAtt": ["Key", "Arn"]}
    changed = stack.update(logs(RetentionInDays=365, KmsKeyId=key))
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    assert (describe()["retentionInDays"], describe()["kmsKeyId"][-36:]) == (365, ids["Key"])
    stack.update(logs())
    assert not {"retentionInDays", "kmsKeyId"} & describe().keys()
    stack.delete()


def test_the_next_group_of_the_name_has_none_of_its_tags(local_aws: LocalAws) -> None:
    client = local_aws.client("logs")
    client.create_log_group(logGroupName="/of/tags", tags={"Team": "Vision"})
    client.delete_log_group(logGroupName="/of/tags")
    client.create_log_group(logGroupName="/of/tags", tags={"Project": "one"})
    assert client.list_tags_log_group(logGroupName="/of/tags")["tags"] == {"Project": "one"}
    client.delete_log_group(logGroupName="/of/tags")
