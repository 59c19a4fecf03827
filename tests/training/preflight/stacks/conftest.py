"""An AWS in this process, and a network in it to point checks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from boto3.session import Session
from botocore.stub import Stubber
from moto import mock_aws

from training.aws.clients import Clients
from training.aws.cloudformation import CloudFormation
from training.aws.request import action_named
from training.aws.sts import Identity
from training.preflight.check import Check
from training.preflight.finding import Finding
from training.preflight.stacks.own import OwnResources

REGION, ACCOUNT = "us-east-1", "123456789012"
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
IDENTITY = Identity(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:user/somebody")

Call = tuple[str, dict[str, Any] | str, dict[str, Any]]
"""Method, its answer or `Code` or `Code: message` of its error, and what it must be asked with."""
Stub = Callable[..., Any]

SERVICES = (
    *(
        "autoscaling",
        "cloudformation",
        "ec2",
        "ecr",
        "efs",
        "eks",
        "fsx",
        "iam",
        "kms",
        "s3",
        "sagemaker",
    ),
    "secretsmanager",
    *("logs", "service-quotas", "ssm", "sts"),
)


@pytest.fixture(scope="session")
def session() -> Session:
    """One for all tests: it keeps the service models that it has read."""
    made = boto3.Session(
        aws_access_key_id="key", aws_secret_access_key="secret", region_name=REGION
    )
    # Clients take this over when they are made.
    made.events.register("before-parameter-build", _record_action)
    return made


_actions: set[str] = set()


def _record_action(model: Any, **_: Any) -> None:
    _actions.add(action_named(model.service_model.signing_name, model.name))


@pytest.fixture(scope="session")
def clients(session: Session) -> Clients:
    """Made once: what they are answered depends on the moment, not on the client."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("AWS_ENDPOINT_URL", raising=False)
        made = Clients(session, REGION, read_timeout_s=5, attempts=1)
        for service in SERVICES:
            made.boto(service)
    return made


@pytest.fixture(scope="session")
def stubbed_clients(session: Session) -> dict[str, Any]:
    """Apart from the others: a stub is never asked anything else."""
    return {service: session.client(service) for service in SERVICES}  # type: ignore[call-overload]


@pytest.fixture
def stub(stubbed_clients: dict[str, Any]) -> Iterator[Stub]:
    """Let a service answer given calls, in order; all of them must come. Returns its client."""
    with ExitStack() as stack:
        stubbers: dict[str, Stubber] = {}

        def answer(service: str, *calls: Call) -> Any:
            if service not in stubbers:
                stubbers[service] = stack.enter_context(Stubber(stubbed_clients[service]))
            for method, found, expected in calls:
                if isinstance(found, str):
                    code, _, message = found.partition(": ")
                    stubbers[service].add_client_error(
                        method, code, message, expected_params=expected
                    )
                else:
                    stubbers[service].add_response(method, found, expected)
            return stubbed_clients[service]

        yield answer
        for stubber in stubbers.values():
            stubber.assert_no_pending_responses()


@pytest.fixture
def aws(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    """An AWS that is empty but for default VPCs."""
    # Else moto makes more than a thousand machine images each time, and nobody asks for one.
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    with mock_aws():
        yield clients


@dataclass
class Network:
    """A VPC with a private subnet in each of three zones, all with one way out."""

    ec2: Any
    vpc_id: str
    subnet_ids: list[str]
    route_table_id: str
    main_table_id: str
    gateway_id: str
    nat_id: str
    group_id: str

    def allow(
        self, group_id: str, source: str, first: int, last: int, protocol: str = "tcp"
    ) -> None:
        self.ec2.authorize_security_group_ingress(
            GroupId=group_id, IpPermissions=[_permission(source, first, last, protocol)]
        )

    def allow_out(self, group_id: str, target: str, first: int, last: int) -> None:
        self.ec2.authorize_security_group_egress(
            GroupId=group_id, IpPermissions=[_permission(target, first, last, "tcp")]
        )

    def new_group(self, name: str, vpc_id: str | None = None) -> str:
        made = self.ec2.create_security_group(
            GroupName=name, Description=name, VpcId=vpc_id or self.vpc_id
        )
        return str(made["GroupId"])


def _permission(group_id: str, first: int, last: int, protocol: str) -> dict[str, Any]:
    ports = {} if protocol == "-1" else {"FromPort": first, "ToPort": last}
    return {"IpProtocol": protocol, "UserIdGroupPairs": [{"GroupId": group_id}], **ports}


@pytest.fixture
def network(aws: Clients) -> Network:
    ec2 = aws.boto("ec2")
    vpc_id = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc_id, EnableDnsHostnames={"Value": True})
    subnet_ids = [
        ec2.create_subnet(VpcId=vpc_id, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=zone)[
            "Subnet"
        ]["SubnetId"]
        for n, zone in enumerate(ZONES)
    ]
    public = ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.0.9.0/24", AvailabilityZone=ZONES[0])
    gateway_id = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway_id, VpcId=vpc_id)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=public["Subnet"]["SubnetId"], AllocationId=address)[
        "NatGateway"
    ]
    main = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc_id]}])
    table_id = ec2.create_route_table(VpcId=vpc_id)["RouteTable"]["RouteTableId"]
    ec2.create_route(
        RouteTableId=table_id,
        DestinationCidrBlock="0.0.0.0/0",
        NatGatewayId=nat["NatGatewayId"],
    )
    for subnet_id in subnet_ids:
        ec2.associate_route_table(RouteTableId=table_id, SubnetId=subnet_id)
    group = ec2.create_security_group(GroupName="jobs", Description="jobs", VpcId=vpc_id)
    return Network(
        ec2=ec2,
        vpc_id=vpc_id,
        subnet_ids=subnet_ids,
        route_table_id=table_id,
        main_table_id=main["RouteTables"][0]["RouteTableId"],
        gateway_id=gateway_id,
        nat_id=nat["NatGatewayId"],
        group_id=group["GroupId"],
    )


@dataclass(frozen=True)
class StackOf(OwnResources):
    """A stack of ours that has made what a test says."""

    made: frozenset[str] = frozenset()

    def ids(self) -> frozenset[str]:
        return self.made


def own(*ids: str, stack: str = "NetworkStack") -> OwnResources:
    return StackOf(CloudFormation(None), stack, frozenset(ids))


def findings_of(check: Check) -> list[Finding]:
    """Run a check, which must not ask for more than it says."""
    _actions.clear()
    findings = list(check.find())
    assert set(check.actions) >= _actions
    return findings


def codes_of(check: Check) -> list[str]:
    return [finding.code for finding in findings_of(check)]


def only_finding_of(check: Check, code: str) -> Finding:
    (finding,) = findings_of(check)
    assert finding.code == code
    return finding
