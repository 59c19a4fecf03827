"""A VPC with as few public subnets as its NAT gateways need."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import CfnTag, Tags
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.settings.subnet_plan import SubnetPlan


class SmallVpc(Construct):
    """Private subnets, one a zone, that leave through NAT gateways in fewer public subnets.

    CDK's own `ec2.Vpc` makes a public subnet in each zone and takes two zones, whatever is asked,
    where account and region are not known (aws/aws-cdk#6047), so the VPC and its gateway are L1.

    AWS makes a default security group in each VPC, and CloudFormation cannot take its rules away
    (CDK does so with a Lambda). Nothing here uses that group; it admits only its own members.

    Attributes:
        vpc: For other constructs. It knows the private subnets only: CDK's import wants as many
            public ones as zones.
        public_subnets: From the first zone on; none where the plan has none.
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
            plan: The subnets' addresses. Without a public one there is no internet gateway.
            availability_zones: The zone of each private subnet of the plan, and of each public
                one, from the first on. May be tokens.
            nat_gateways: At most one for each public subnet, in the first ones.
        """
        super().__init__(scope, construct_id)
        self._zones = tuple(availability_zones)
        vpc = ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=cidr,
            enable_dns_hostnames=True,  # EFS and FSx are mounted by name.
            enable_dns_support=True,
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        self._vpc_id = vpc.ref
        self.public_subnets = self._add_public_subnets([str(each) for each in plan.public])
        self._private_subnets = self._add_private_subnets([str(each) for each in plan.private])
        self._route_through_nat_gateways(nat_gateways)
        self.vpc = self._as_ivpc(cidr)

    def _add_public_subnets(self, cidrs: Sequence[str]) -> tuple[ec2.PublicSubnet, ...]:
        if not cidrs:
            return ()
        gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        Tags.of(gateway).add("Name", self.node.path)
        attachment = ec2.CfnVPCGatewayAttachment(
            self, "GatewayAttachment", vpc_id=self._vpc_id, internet_gateway_id=gateway.ref
        )
        subnets = []
        for number, (zone, cidr) in enumerate(zip(self._zones, cidrs, strict=False), start=1):
            subnet = ec2.PublicSubnet(
                self,
                f"PublicSubnet{number}",
                vpc_id=self._vpc_id,
                availability_zone=zone,
                cidr_block=cidr,
                map_public_ip_on_launch=False,
            )
            subnet.add_default_internet_route(gateway.ref, attachment)
            _tag_for_load_balancers(subnet, "elb")
            subnets.append(subnet)
        return tuple(subnets)

    def _add_private_subnets(self, cidrs: Sequence[str]) -> tuple[ec2.PrivateSubnet, ...]:
        subnets = []
        for number, (zone, cidr) in enumerate(zip(self._zones, cidrs, strict=True), start=1):
            subnet = ec2.PrivateSubnet(
                self,
                f"PrivateSubnet{number}",
                vpc_id=self._vpc_id,
                availability_zone=zone,
                cidr_block=cidr,
            )
            _tag_for_load_balancers(subnet, "internal-elb")
            subnets.append(subnet)
        return tuple(subnets)

    def _route_through_nat_gateways(self, count: int) -> None:
        """Send each private subnet through the gateway of its zone, or else share them out."""
        gateways = [subnet.add_nat_gateway() for subnet in self.public_subnets[:count]]
        for index, subnet in enumerate(self._private_subnets if gateways else ()):
            subnet.add_default_nat_route(gateways[index % len(gateways)].ref)

    def _as_ivpc(self, cidr: str) -> ec2.IVpc:
        return ec2.Vpc.from_vpc_attributes(
            self,
            "PrivateView",
            vpc_id=self._vpc_id,
            vpc_cidr_block=cidr,
            availability_zones=list(self._zones),
            private_subnet_ids=[subnet.subnet_id for subnet in self._private_subnets],
            private_subnet_route_table_ids=[
                subnet.route_table.route_table_id for subnet in self._private_subnets
            ],
        )


def _tag_for_load_balancers(subnet: ec2.ISubnet, role: str) -> None:
    """Mark a subnet as EKS's load balancer controller looks for it.

    https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
    """
    Tags.of(subnet).add(
        f"kubernetes.io/role/{role}", "1", include_resource_types=["AWS::EC2::Subnet"]
    )
