"""The contract, seen from the stacks: what they write is what `training.outputs` reads."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import ClassVar

import aws_cdk as cdk
import pytest

from stacks.contract import write_outputs
from tests.stacks.matrix import MATRIX, STACKS, Synthesize, Template
from training.outputs import CONTRACTS, Contract, NetworkOutputs, output_key


def test_every_stack_has_a_contract() -> None:
    assert tuple(contract.STACK for contract in CONTRACTS) == STACKS


@pytest.mark.parametrize("row", MATRIX)
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.STACK)
def test_stack_writes_all_that_its_contract_requires_and_nothing_else(
    contract: type[Contract], row: str, synth: Synthesize
) -> None:
    written = own_outputs(synth(row).templates[contract.STACK])
    all_keys = {output_key(field.name) for field in fields(contract)}
    required = {output_key(field.name) for field in fields(contract) if field.default is MISSING}
    assert required <= written <= all_keys


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.STACK)
def test_every_field_of_a_contract_is_written_with_some_settings(
    contract: type[Contract], synth: Synthesize
) -> None:
    written = set.union(*(own_outputs(synth(row).templates[contract.STACK]) for row in MATRIX))
    assert written == {output_key(field.name) for field in fields(contract)}


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.STACK)
def test_training_reads_back_what_the_stack_writes(
    contract: type[Contract], synth: Synthesize
) -> None:
    """With a value of the right form in place of what CloudFormation would put in."""
    template = synth("default").templates[contract.STACK]
    outputs = {key: resolve(template["Outputs"][key]["Value"]) for key in own_outputs(template)}
    assert contract.from_outputs(outputs, source="test").to_outputs() == outputs


def test_network_lists_come_back_as_three_private_subnets_in_three_zones(
    synth: Synthesize,
) -> None:
    template = synth("default").templates["NetworkStack"]
    outputs = {key: resolve(template["Outputs"][key]["Value"]) for key in own_outputs(template)}
    network = NetworkOutputs.from_outputs(outputs, source="test")
    assert len(set(network.private_subnet_ids)) == 3
    assert len(set(network.availability_zones)) == 3
    assert len(network.public_subnet_ids) == 1


@dataclass(frozen=True, kw_only=True)
class SampleOutputs(Contract):
    STACK: ClassVar[str] = "SampleStack"

    bucket_name: str
    zone_names: tuple[str, ...]
    head_node_id: str | None = None


def test_tokens_become_references_and_absent_fields_are_left_out() -> None:
    stack = cdk.Stack(unchecked_app(), "SampleStack")
    resource = cdk.CfnResource(stack, "Thing", type="AWS::S3::Bucket")
    zones = tuple(cdk.Fn.select(index, cdk.Fn.get_azs()) for index in range(2))

    write_outputs(stack, SampleOutputs(bucket_name=resource.ref, zone_names=zones))

    outputs = cdk.assertions.Template.from_stack(stack).to_json()["Outputs"]
    first, second = ({"Fn::Select": [index, {"Fn::GetAZs": ""}]} for index in range(2))
    assert outputs == {
        "BucketName": {"Value": {"Ref": "Thing"}},
        "ZoneNames": {"Value": {"Fn::Join": ["", [first, ",", second]]}},
    }


def test_a_stack_cannot_write_the_outputs_of_another() -> None:
    stack = cdk.Stack(unchecked_app(), "OtherStack")
    with pytest.raises(ValueError, match="SampleOutputs belongs to SampleStack"):
        write_outputs(stack, SampleOutputs(bucket_name="b", zone_names=("z",)))


def unchecked_app() -> cdk.App:
    return cdk.App(builtin_cloud_formation_validation=False)


def own_outputs(template: Template) -> set[str]:
    """Return the keys of a stack's outputs without those that CDK adds for other stacks."""
    return {key for key in template["Outputs"] if not key.startswith("PublishOutput")}


def resolve(value: object) -> str:
    """Return a made-up value of an output: joined where it is a join, else a word without comma."""
    if isinstance(value, dict) and "Fn::Join" in value:
        delimiter, parts = value["Fn::Join"]
        return str(delimiter).join(resolve(part) for part in parts)
    return value if isinstance(value, str) else str(abs(hash(str(value))))
