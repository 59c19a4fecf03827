"""NetworkStack's templates, and what the tests of them look for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from app import CDK_JSON
from stacks.governance import stack_options
from stacks.network import NetworkStack
from stacks.settings import Settings
from tests.stacks.matrix import Template, properties, resources

# isort: split

from aws_cdk import App, assertions


def stack_of(**context: Any) -> NetworkStack:
    """Build NetworkStack alone, which takes less than the whole app."""
    settings = Settings.from_context(context)
    flags = json.loads(CDK_JSON.read_text("utf-8"))["context"]
    app = App(context=flags, builtin_cloud_formation_validation=False)
    return NetworkStack(app, "NetworkStack", settings=settings, **stack_options(settings.general))


def network_of(**context: Any) -> Template:
    template: Template = assertions.Template.from_stack(stack_of(**context)).to_json()
    return template


def subnets(template: Template, role: str) -> list[dict[str, Any]]:
    """Return the subnets of a load balancer role: `elb` are public, `internal-elb` private."""
    return [template["Resources"][each]["Properties"] for each in subnet_ids(template, role)]


def subnet_ids(template: Template, role: str) -> list[str]:
    return [
        logical_id
        for logical_id, subnet in resources(template, "AWS::EC2::Subnet").items()
        if any(tag["Key"] == f"kubernetes.io/role/{role}" for tag in subnet["Properties"]["Tags"])
    ]


def table_of_subnet(template: Template) -> dict[str, str]:
    """Return subnet to route table, by logical id."""
    return {
        each["SubnetId"]["Ref"]: each["RouteTableId"]["Ref"]
        for each in properties(template, "AWS::EC2::SubnetRouteTableAssociation")
    }


def route_tables(template: Template, role: str) -> set[str]:
    tables = table_of_subnet(template)
    return {tables[each] for each in subnet_ids(template, role)}


def nat_of_route_table(template: Template) -> dict[str, str]:
    """Return route table to the NAT gateway of its default route, by logical id."""
    return {
        route["RouteTableId"]["Ref"]: route["NatGatewayId"]["Ref"]
        for route in properties(template, "AWS::EC2::Route")
        if "NatGatewayId" in route
    }


def nat_of_subnet(template: Template) -> dict[str, str]:
    """Return private subnet to NAT gateway, by logical id, in the order of the zones."""
    tables, gateways = table_of_subnet(template), nat_of_route_table(template)
    return {each: gateways[tables[each]] for each in subnet_ids(template, "internal-elb")}


def zone(template: Template, subnet_id: str) -> Any:
    return template["Resources"][subnet_id]["Properties"]["AvailabilityZone"]


def zone_of_nat(template: Template, gateway_id: str) -> Any:
    return zone(template, template["Resources"][gateway_id]["Properties"]["SubnetId"]["Ref"])


def interface_endpoints(template: Template) -> Iterator[dict[str, Any]]:
    for endpoint in properties(template, "AWS::EC2::VPCEndpoint"):
        if endpoint["VpcEndpointType"] == "Interface":
            yield endpoint


def gateway_endpoints(template: Template) -> list[dict[str, Any]]:
    return [
        endpoint
        for endpoint in properties(template, "AWS::EC2::VPCEndpoint")
        if endpoint["VpcEndpointType"] == "Gateway"
    ]


def service(endpoint: dict[str, Any]) -> str:
    """Return a service's name, with `${AWS::Region}` where the region is not known."""
    name = endpoint["ServiceName"]
    if isinstance(name, str):
        return name
    parts = name["Fn::Join"][1]
    return "".join(each if isinstance(each, str) else f"${{{each['Ref']}}}" for each in parts)


def training_group_id(template: Template) -> str:
    [group_id] = [
        logical_id
        for logical_id, group in resources(template, "AWS::EC2::SecurityGroup").items()
        if group["Properties"]["GroupDescription"] == "Training jobs and clusters"
    ]
    return group_id


def allowed_actions(template: Template) -> set[str]:
    """Return what the policies of a stack's roles allow."""
    actions: set[str] = set()
    for policy in properties(template, "AWS::IAM::ManagedPolicy"):
        for statement in policy["PolicyDocument"]["Statement"]:
            action = statement["Action"]
            actions |= {action} if isinstance(action, str) else set(action)
    return actions
