"""The ways to AWS services that stay inside AWS, and a VPC that has no other."""

from __future__ import annotations

import pytest

from stacks.constructs.s3_endpoint import ON_ANY_BUCKET, ON_OWN_BUCKETS
from stacks.endpoint_services import BY_NAME, NEEDED
from tests.stacks.matrix import Synthesize, Template, properties, resources
from tests.stacks.network_templates import (
    allowed_actions,
    gateway_endpoints,
    interface_endpoints,
    network_of,
    service,
    subnet_ids,
    subnets,
    training_group_id,
)


@pytest.fixture
def network(synth: Synthesize) -> Template:
    return synth("default").templates["NetworkStack"]


@pytest.fixture
def closed(synth: Synthesize) -> Template:
    return synth("no-internet").templates["NetworkStack"]


def test_without_internet_nothing_leads_there(closed: Template) -> None:
    for resource_type in ("InternetGateway", "VPCGatewayAttachment", "NatGateway", "EIP", "Route"):
        assert resources(closed, f"AWS::EC2::{resource_type}") == {}
    assert subnets(closed, "elb") == []
    assert len(subnets(closed, "internal-elb")) == 3
    assert "PublicSubnetIds" not in closed["Outputs"]


def test_without_internet_each_needed_service_has_an_endpoint_under_its_own_name(
    closed: Template,
) -> None:
    endpoints = list(interface_endpoints(closed))
    assert {service(each) for each in endpoints} == {
        f"com.amazonaws.${{AWS::Region}}.{name}" for name in NEEDED
    }
    assert {each["PrivateDnsEnabled"] for each in endpoints} == {True}


def test_without_internet_the_notebook_reaches_all_that_it_may_call(
    closed: Template, synth: Synthesize
) -> None:
    through = {*ON_ANY_BUCKET, *ON_OWN_BUCKETS}
    for name in NEEDED:
        through |= set(BY_NAME[name].actions)
    # Handed over with a job; asked by S3 for the notebook.
    no_calls = {"iam:PassRole", "kms:Decrypt", "kms:GenerateDataKey"}
    # What checks and prices ask stays unknown: no launch depends on it, and an endpoint costs by
    # the hour. Prices are in three regions only, and IAM in one.
    unknown = {
        *("pricing:GetProducts", "servicequotas:ListServiceQuotas", "kms:DescribeKey"),
        *("iam:GetRole", "iam:SimulatePrincipalPolicy"),
        # Builds in AWS pull from the internet: without it, images are built elsewhere.
        *("codebuild:BatchGetBuilds", "codebuild:StartBuild", "codebuild:StopBuild"),
    }
    assert allowed_actions(synth("no-internet").templates["NotebookStack"]) - through == {
        *no_calls,
        *unknown,
    }


def test_by_default_there_is_no_interface_endpoint(network: Template) -> None:
    assert list(interface_endpoints(network)) == []


@pytest.mark.parametrize(("row", "zones"), [("no-internet", 1), ("endpoints", 3)])
def test_interface_endpoints_are_in_as_many_private_subnets_as_asked_for(
    row: str, zones: int, synth: Synthesize
) -> None:
    template = synth(row).templates["NetworkStack"]
    first = [{"Ref": each} for each in subnet_ids(template, "internal-elb")[:zones]]
    assert [each["SubnetIds"] for each in interface_endpoints(template)] == [first] * (
        len(NEEDED) if zones == 1 else len(BY_NAME)
    )


def test_interface_endpoints_admit_the_training_group_over_https_and_nothing_else(
    closed: Template,
) -> None:
    groups = {
        group["Fn::GetAtt"][0]
        for each in interface_endpoints(closed)
        for group in each["SecurityGroupIds"]
    }
    [group_id] = groups
    [rule] = [
        each
        for each in properties(closed, "AWS::EC2::SecurityGroupIngress")
        if each["GroupId"] == {"Fn::GetAtt": [group_id, "GroupId"]}
    ]
    training_id = training_group_id(closed)
    assert rule["SourceSecurityGroupId"] == {"Fn::GetAtt": [training_id, "GroupId"]}
    assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)
    assert "SecurityGroupIngress" not in closed["Resources"][group_id]["Properties"]


def test_interface_endpoints_let_callers_of_this_account_through_and_no_others(
    synth: Synthesize,
) -> None:
    template = synth("endpoints").templates["NetworkStack"]
    for endpoint in interface_endpoints(template):
        [statement] = endpoint["PolicyDocument"]["Statement"]
        name = service(endpoint).removeprefix("com.amazonaws.${AWS::Region}.")
        # CDK writes a single one without a list.
        expected = list(BY_NAME[name].actions)
        assert statement["Action"] in (expected, *expected[: len(expected) == 1])
        assert statement["Condition"] == {
            "StringEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}
        }


@pytest.mark.parametrize(
    ("region", "names"),
    [
        (
            "cn-north-1",
            [
                "cn.com.amazonaws.cn-north-1.sagemaker.api",
                "cn.com.amazonaws.cn-north-1.ecr.dkr",
                "cn.com.amazonaws.cn-north-1.cloudformation",
                "com.amazonaws.cn-north-1.logs",
                "com.amazonaws.cn-north-1.secretsmanager",
            ],
        ),
        ("us-gov-west-1", [f"com.amazonaws.us-gov-west-1.{name}" for name in NEEDED]),
    ],
)
def test_services_are_named_as_their_partition_names_them(region: str, names: list[str]) -> None:
    template = network_of(aws_region=region, fsx="none", interface_endpoints="needed")
    assert set(names) <= {service(each) for each in interface_endpoints(template)}
    [gateway] = gateway_endpoints(template)
    assert service(gateway) == "com.amazonaws.${AWS::Region}.s3"
