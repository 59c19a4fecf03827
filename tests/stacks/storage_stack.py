"""StorageStack by itself, in a VPC of others: what tests look at it with."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import stacks  # noqa: F401  It sets what jsii reads when aws_cdk is imported.

# isort: split

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from stacks.governance import stack_options
from stacks.settings import Settings
from stacks.storage import StorageStack
from tests.stacks.matrix import Template, properties, resources

CDK_JSON = Path(__file__).resolve().parents[2] / "cdk.json"

SUBNETS = ("subnet-1", "subnet-2", "subnet-3")
ZONES = ("us-west-2a", "us-west-2b", "us-west-2c")
TRAINING = "sg-training"
"""The clients' security group."""


def storage_template(**context: str) -> Template:
    """Return the template that some settings make, with the feature flags of cdk.json."""
    return _synthesize(json.dumps(context, sort_keys=True))


@cache
def _synthesize(context: str) -> Template:
    flags = json.loads(CDK_JSON.read_text(encoding="utf-8"))["context"]
    app = cdk.App(context=flags, builtin_cloud_formation_validation=False)
    settings = Settings.from_context(json.loads(context))
    network = cdk.Stack(app, "Network")
    stack = StorageStack(
        app,
        "StorageStack",
        settings=settings,
        vpc=ec2.Vpc.from_vpc_attributes(
            network,
            "Vpc",
            vpc_id="vpc-1",
            availability_zones=list(ZONES),
            private_subnet_ids=list(SUBNETS),
            private_subnet_route_table_ids=["rtb-1"] * len(SUBNETS),
        ),
        training_security_group=ec2.SecurityGroup.from_security_group_id(
            network, "Training", TRAINING, allow_all_outbound=False
        ),
        **stack_options(settings.general),
    )
    template: Template = cdk.assertions.Template.from_stack(stack).to_json()
    return template


def outputs(template: Template) -> dict[str, Any]:
    """Return output key to value."""
    return {key: output["Value"] for key, output in template["Outputs"].items()}


def group_of(template: Template, description: str) -> dict[str, Any]:
    """Return the reference to a security group's id."""
    [logical_id] = [
        logical_id
        for logical_id, group in resources(template, "AWS::EC2::SecurityGroup").items()
        if group["Properties"]["GroupDescription"] == description
    ]
    return {"Fn::GetAtt": [logical_id, "GroupId"]}


def ports_sent(template: Template, *, sender: Any, receiver: Any) -> set[tuple[str, Any, Any]]:
    """Return protocol and port range of what the sender's own rules let out to the receiver."""
    return {
        (rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort"))
        for rule in properties(template, "AWS::EC2::SecurityGroupEgress")
        if (rule["GroupId"], rule["DestinationSecurityGroupId"]) == (sender, receiver)
    }


def ports_admitted(template: Template, *, sender: Any, receiver: Any) -> set[tuple[str, Any, Any]]:
    """Return protocol and port range of what the receiver's own rules let in from the sender."""
    return {
        (rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort"))
        for rule in properties(template, "AWS::EC2::SecurityGroupIngress")
        if (rule["GroupId"], rule["SourceSecurityGroupId"]) == (receiver, sender)
    }


def our_key(template: Template) -> dict[str, Any]:
    [logical_id] = resources(template, "AWS::KMS::Key")
    return {"Fn::GetAtt": [logical_id, "Arn"]}


def only(template: Template, resource_type: str) -> dict[str, Any]:
    """Return the properties of the only resource of a type."""
    [found] = properties(template, resource_type)
    return found
