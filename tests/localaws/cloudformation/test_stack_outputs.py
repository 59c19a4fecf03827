"""Weak references: `Fn::GetStackOutput`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from localaws.cloudformation.stack_outputs import with_outputs
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def reading(stack: Stack, output: str, **more: Any) -> dict[str, Any]:
    """Return the reference as CDK writes it."""
    arguments = {"StackName": stack.name, "Region": {"Ref": "AWS::Region"}, "OutputName": output}
    return {"Fn::GetStackOutput": arguments | more}


def group(description: Any) -> Resources:
    return {
        "Group": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"LogGroupName": {"Fn::Join": ["/", ["weak", description]]}},
        }
    }


@pytest.fixture
def pair(new_stack: Callable[[], Stack]) -> tuple[Stack, Stack]:
    producer, consumer = new_stack(), new_stack()
    repository = {"Repository": {"Type": "AWS::ECR::Repository"}}
    producer.create(repository, Outputs={"Name": {"Value": {"Ref": "Repository"}}})
    return producer, consumer


def test_output_of_another_stack_is_read_at_any_depth(pair: tuple[Stack, Stack]) -> None:
    producer, consumer = pair
    reference = reading(producer, "Name")
    made = consumer.create(
        group(reference), Outputs={"Seen": {"Value": {"Fn::Join": ["", ["<", reference, ">"]]}}}
    )
    name = producer.ids()["Repository"]
    assert made["Outputs"][0]["OutputValue"] == f"<{name}>"
    assert consumer.ids()["Group"] == f"weak/{name}"


def test_producer_changes_and_goes_while_it_is_used(pair: tuple[Stack, Stack]) -> None:
    producer, consumer = pair
    consumer.create(group(reading(producer, "Name")))
    before = consumer.ids()
    other = {"Other": {"Type": "AWS::ECR::Repository"}}
    assert producer.update(other)["StackStatus"] == "UPDATE_COMPLETE"
    producer.delete()
    assert consumer.describe()["StackStatus"] == "CREATE_COMPLETE"
    assert consumer.ids() == before
    consumer.delete()


def test_new_value_of_an_output_is_taken_up_by_the_next_update(pair: tuple[Stack, Stack]) -> None:
    producer, consumer = pair
    template = group(reading(producer, "Name"))
    consumer.create(template)
    other = {"Other": {"Type": "AWS::ECR::Repository"}}
    producer.update(other, Outputs={"Name": {"Value": {"Ref": "Other"}}})
    assert consumer.update(template)["StackStatus"] == "UPDATE_COMPLETE"
    assert consumer.ids()["Group"] == f"weak/{producer.ids()['Other']}"


def test_failed_update_rolls_back_although_the_producer_is_gone(
    pair: tuple[Stack, Stack],
) -> None:
    producer, consumer = pair
    reference = reading(producer, "Name")
    outputs = {"Outputs": {"Seen": {"Value": reference}}}
    made = consumer.create(group(reference), **outputs)
    producer.delete()
    failed = consumer.update({**group(reference), "Vpc": {"Type": "AWS::EC2::VPC"}}, **outputs)
    assert failed["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert f"output Name of stack {producer.name}" in failed["StackStatusReason"]
    assert failed["Outputs"] == made["Outputs"]
    consumer.delete()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"OutputName": "Missing"}, "the stack has no such output (it has: Name)"),
        ({"StackName": "Nowhere"}, "the stack does not exist. Deploy it first: Nowhere"),
        ({"Region": "eu-west-1"}, "in eu-west-1: the stack does not exist"),
    ],
)
def test_missing_stack_or_output_fails_with_the_reference(
    pair: tuple[Stack, Stack], change: dict[str, str], reason: str
) -> None:
    producer, consumer = pair
    made = consumer.create(group(reading(producer, "Name", **change)))
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "Group (AWS::Logs::LogGroup): Fn::GetStackOutput: output " in made["StackStatusReason"]
    assert reason in made["StackStatusReason"]


def test_reference_in_the_branch_not_taken_is_not_read() -> None:
    def refuse(arguments: Mapping[str, Any]) -> str:
        raise AssertionError(arguments)

    reference = {"Fn::GetStackOutput": {"StackName": "Nowhere", "OutputName": "None"}}
    value = {"A": [{"Fn::If": ["IsThere", reference, {"Ref": "B"}]}]}
    assert with_outputs(value, {"IsThere": False}, refuse) == {"A": [{"Ref": "B"}]}
