"""ECR repositories, made and changed by a stack."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def repository(**properties: Any) -> Resources:
    return {"Images": {"Type": "AWS::ECR::Repository", "Properties": properties}}


def pull(account: str) -> dict[str, Any]:
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
        "Action": ["ecr:BatchGetImage"],
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


def keep(count: int) -> dict[str, str]:
    rule = {
        "rulePriority": 1,
        "selection": {
            "tagStatus": "any",
            "countType": "imageCountMoreThan",
            "countNumber": count,
        },
        "action": {"type": "expire"},
    }
    return {"LifecyclePolicyText": json.dumps({"rules": [rule]})}


def test_settings_are_seen_and_change_in_place(local_aws: LocalAws, stack: Stack) -> None:
    key = {"Key": {"Type": "AWS::KMS::Key"}}
    encryption = {"EncryptionType": "KMS", "KmsKey": {"Fn::GetAtt": ["Key", "Arn"]}}
    first = repository(
        EncryptionConfiguration=encryption,
        ImageTagMutability="IMMUTABLE",
        ImageScanningConfiguration={"ScanOnPush": True},
        RepositoryPolicyText=pull("111122223333"),
        LifecyclePolicy=keep(3),
    )
    made = stack.create({**key, **first})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids, ecr = stack.ids(), local_aws.client("ecr")

    def describe() -> dict[str, Any]:
        answer = ecr.describe_repositories(repositoryNames=[ids["Images"]])
        return dict(answer["repositories"][0])

    seen = describe()
    assert seen["encryptionConfiguration"]["encryptionType"] == "KMS"
    assert seen["encryptionConfiguration"]["kmsKey"].endswith(ids["Key"])
    assert seen["imageTagMutability"] == "IMMUTABLE"
    assert seen["imageScanningConfiguration"] == {"scanOnPush": True}
    policy = ecr.get_repository_policy(repositoryName=ids["Images"])["policyText"]
    assert json.loads(policy) == pull("111122223333")

    second = repository(
        EncryptionConfiguration=encryption,
        RepositoryPolicyText=pull("444455556666"),
        LifecyclePolicy=keep(5),
    )
    changed = stack.update({**key, **second})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    seen = describe()
    assert seen["imageTagMutability"] == "MUTABLE"
    assert seen["imageScanningConfiguration"] == {"scanOnPush": False}
    policy = ecr.get_repository_policy(repositoryName=ids["Images"])["policyText"]
    assert json.loads(policy) == pull("444455556666")
    rules = ecr.get_lifecycle_policy(repositoryName=ids["Images"])["lifecyclePolicyText"]
    assert json.loads(rules)["rules"][0]["selection"]["countNumber"] == 5
    stack.delete()
