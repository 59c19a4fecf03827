"""A VPC with one public and three private subnets."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import CfnTag, Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.subnet_plan import SubnetPlan


class SmallVpc(Construct):
    """Private subnets in several zones that leave through one public subnet.

    CDK's own `ec2.Vpc` makes a public subnet in each zone and takes two zones, whatever is asked,
    where account and region are not known (aws/aws-cdk#6047), so the VPC and its gateway are L1.

    AWS makes a default security group in each VPC, and CloudFormation cannot take its rules away
    (CDK does so with a Lambda). Nothing here uses that group; it admits only its own members.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cidr: str,
        plan: SubnetPlan,
        availability_zones: Sequence[str],
        nat_gateways: int,
    ) -> None:
        """Build it.

        Args:
            cidr: The VPC's addresses.
            plan: The subnets' addresses.
            availability_zones: The zone of each private subnet of the plan; the first holds the
                public subnet too. May be tokens.
            nat_gateways: 0 or 1.
        """
        super().__init__(scope, construct_id)
        self.availability_zones = tuple(availability_zones)
        vpc = ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=cidr,
            enable_dns_hostnames=True,  # EFS and FSx are mounted by name.
            enable_dns_support=True,
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        self.vpc_id = vpc.ref
        self.public_subnet = self._add_public_subnet(str(plan.public))
        self.private_subnets = self._add_private_subnets([str(each) for each in plan.private])
        if nat_gateways:
            self._route_through_nat_gateway()
        self.vpc = self._as_ivpc(cidr)
        """For other constructs. It knows the private subnets only: CDK's import wants as many
        public ones as zones."""

    def _add_public_subnet(self, cidr: str) -> ec2.PublicSubnet:
        gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        Tags.of(gateway).add("Name", self.node.path)
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "GatewayAttachment", vpc_id=self.vpc_id, internet_gateway_id=gateway.ref
        )
        subnet = ec2.PublicSubnet(
            self,
            "PublicSubnet",
            vpc_id=self.vpc_id,
            availability_zone=self.availability_zones[0],
            cidr_block=cidr,
            map_public_ip_on_launch=False,
        )
        subnet.add_default_internet_route(gateway.ref, attachment)
        _tag_for_load_balancers(subnet, "elb")
        return subnet

    def _add_private_subnets(self, cidrs: Sequence[str]) -> tuple[ec2.PrivateSubnet, ...]:
        subnets = []
        for number, (zone, cidr) in enumerate(
            zip(self.availability_zones, cidrs, strict=True), start=1
        ):
            subnet = ec2.PrivateSubnet(
                self,
                f"PrivateSubnet{number}",
                vpc_id=self.vpc_id,
                availability_zone=zone,
                cidr_block=cidr,
            )
            _tag_for_load_balancers(subnet, "internal-elb")
            subnets.append(subnet)
        return tuple(subnets)

    def _route_through_nat_gateway(self) -> None:
        gateway = self.public_subnet.add_nat_gateway()
        for subnet in self.private_subnets:
            subnet.add_default_nat_route(gateway.ref)

    def _as_ivpc(self, cidr: str) -> ec2.IVpc:
        return ec2.Vpc.from_vpc_attributes(
            self,
            "PrivateView",
            vpc_id=self.vpc_id,
            vpc_cidr_block=cidr,
            availability_zones=list(self.availability_zones),
            private_subnet_ids=[subnet.subnet_id for subnet in self.private_subnets],
            private_subnet_route_table_ids=[
                subnet.route_table.route_table_id for subnet in self.private_subnets
            ],
        )


def _tag_for_load_balancers(subnet: ec2.ISubnet, role: str) -> None:
    """Mark a subnet as EKS's load balancer controller looks for it.

    https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
    """
    Tags.of(subnet).add(
        f"kubernetes.io/role/{role}", "1", include_resource_types=["AWS::EC2::Subnet"]
    )
