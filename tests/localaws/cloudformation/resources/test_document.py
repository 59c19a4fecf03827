"""Documents of Systems Manager, made and changed by a stack."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def document(line: str, **more: Any) -> Resources:
    content = {
        "schemaVersion": "2.2",
        "parameters": {"Action": {"type": "String", "allowedValues": ["status", "stop"]}},
        "mainSteps": [
            {"action": "aws:runShellScript", "name": "run", "inputs": {"runCommand": [line]}}
        ],
    }
    properties = {"Content": content, "DocumentType": "Command", **more}
    return {"Run": {"Type": "AWS::SSM::Document", "Properties": properties}}


def content(aws: LocalAws, name: str) -> Any:
    return json.loads(aws.client("ssm").get_document(Name=name)["Content"])


def drift(stack: Stack) -> list[Any]:
    stack.cloudformation.detect_stack_drift(StackName=stack.name)
    found = stack.cloudformation.describe_stack_resource_drifts(StackName=stack.name)
    return [each["PropertyDifferences"] for each in found["StackResourceDrifts"]]


def test_new_version_keeps_the_document_and_is_what_runs(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(document("run {{Action}}", UpdateMethod="NewVersion"))
    name = stack.ids()["Run"]
    assert content(local_aws, name)["mainSteps"][0]["inputs"] == {"runCommand": ["run {{Action}}"]}
    changed = stack.update(
        document("go {{Action}}", UpdateMethod="NewVersion", Tags=[{"Key": "a", "Value": "b"}])
    )
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids()["Run"] == name
    assert content(local_aws, name)["mainSteps"][0]["inputs"] == {"runCommand": ["go {{Action}}"]}
    assert drift(stack) == [[]]

    ssm = local_aws.client("ssm")
    other = json.dumps({"schemaVersion": "2.2", "mainSteps": []})
    ssm.update_document(Name=name, Content=other, DocumentVersion="$LATEST")
    ssm.update_document_default_version(Name=name, DocumentVersion="3")
    assert drift(stack) != [[]]
    stack.delete()
    assert name not in str(ssm.list_documents())


def test_changed_document_is_a_new_one_without_that_method(stack: Stack) -> None:
    stack.create(document("run"))
    name = stack.ids()["Run"]
    assert stack.update(document("go"))["StackStatus"] == "UPDATE_COMPLETE"
    assert stack.ids()["Run"] != name
    stack.delete()
