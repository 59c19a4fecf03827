"""Ways from the private subnets to AWS services that stay inside AWS."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.endpoint_services import EndpointService

HTTPS = ec2.Port.tcp(443)


class InterfaceEndpoints(Construct):
    """An interface endpoint for each service, all in one security group.

    Within the VPC the services' own names lead to them (private DNS), so that no client is told.

    Attributes:
        security_group: Others let themselves in with `allow_from`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        services: Sequence[EndpointService],
        subnets: Sequence[ec2.ISubnet],
    ) -> None:
        """Build them.

        Args:
            vpc: With DNS support and DNS hostnames, which private DNS needs.
            services: What they lead to.
            subnets: Where each has an address; paid for one by one. The whole VPC reaches them.
        """
        super().__init__(scope, construct_id)
        self.security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="Interface endpoints of AWS services",
            allow_all_outbound=False,
        )
        for service in services:
            endpoint = ec2.InterfaceVpcEndpoint(
                self,
                _construct_id(service),
                vpc=vpc,
                service=ec2.InterfaceVpcEndpointAwsService(service.name),
                subnets=ec2.SubnetSelection(subnets=list(subnets)),
                security_groups=[self.security_group],
                private_dns_enabled=True,
                open=False,  # Else the whole VPC may enter.
            )
            endpoint.add_to_policy(_policy_of(service))

    def allow_from(self, clients: ec2.ISecurityGroup, who: str) -> None:
        """Let a security group in; `who` begins the rule's description."""
        self.security_group.connections.allow_from(
            clients, HTTPS, f"{who} call AWS services over TLS"
        )


def _construct_id(service: EndpointService) -> str:
    """Return `SagemakerApi` for `sagemaker.api`."""
    return "".join(part.capitalize() for part in service.name.split("."))


def _policy_of(service: EndpointService) -> iam.PolicyStatement:
    """Let callers of this account through, for what the service is there for.

    So nobody can bring another account's credentials in and carry data out with them. An
    endpoint's policy grants nothing: it only narrows what the caller's own policies allow.
    https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html
    """
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()],
        actions=list(service.actions),
        resources=["*"],  # Others' images too, such as AWS's: the caller's policies name them.
        conditions={"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
    )
