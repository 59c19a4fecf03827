"""A VPC that was there before, and that nothing here changes."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Annotations
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.settings.existing_subnet import ExistingSubnet


class ExistingVpc(Construct):
    """Another's VPC and its subnets, by their ids.

    Attributes:
        vpc: With its private subnets, one a zone, in the order given.
        public_subnets: May be none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc_id: str,
        private_subnets: Sequence[ExistingSubnet],
        public_subnets: Sequence[ExistingSubnet],
    ) -> None:
        super().__init__(scope, construct_id)
        route_tables = [s.route_table_id for s in private_subnets if s.route_table_id]
        self.vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=vpc_id,
            availability_zones=[subnet.zone for subnet in private_subnets],
            private_subnet_ids=[subnet.subnet_id for subnet in private_subnets],
            # All or none, as CDK wants it. Settings ask for them where they are used.
            private_subnet_route_table_ids=(
                route_tables if len(route_tables) == len(private_subnets) else None
            ),
        )
        self.public_subnets = tuple(
            ec2.Subnet.from_subnet_attributes(
                self,
                f"PublicSubnet{number}",
                subnet_id=subnet.subnet_id,
                availability_zone=subnet.zone,
            )
            for number, subnet in enumerate(public_subnets, start=1)
        )
        Annotations.of(self).acknowledge_warning(
            "@aws-cdk/aws-ec2:noSubnetRouteTableId", "nothing reads the route tables left out"
        )
