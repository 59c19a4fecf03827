"""NetworkStack: where jobs run."""

from __future__ import annotations

from typing import Any

from aws_cdk import Fn, Stack
from constructs import Construct

from stacks.constructs.flow_logs import FlowLogs
from stacks.constructs.s3_endpoint import S3Endpoint
from stacks.constructs.small_vpc import SmallVpc
from stacks.constructs.training_security_group import TrainingSecurityGroup
from stacks.contract import write_outputs
from stacks.settings import ZONES, Settings
from training.outputs import NetworkOutputs


class NetworkStack(Stack):
    """VPC over three zones, way out, way to S3, flow logs and the training security group.

    Attributes:
        vpc: With its private subnets, one a zone.
        public_subnet: The only one that the internet can reach.
        training_security_group: For every job and cluster.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, **stack_options: Any
    ) -> None:
        super().__init__(scope, construct_id, **stack_options)
        network = SmallVpc(
            self,
            "Network",
            cidr=str(settings.vpc_cidr),
            plan=settings.subnet_plan,
            availability_zones=settings.availability_zones or _first_zones(),
            nat_gateways=settings.nat_gateways,
        )
        self.vpc = network.vpc
        self.public_subnet = network.public_subnet
        S3Endpoint(self, "S3Endpoint", vpc=self.vpc)
        FlowLogs(self, "FlowLogs", vpc=self.vpc, retention_days=settings.flow_log_retention_days)
        self.training_security_group = TrainingSecurityGroup(
            self, "TrainingSecurityGroup", vpc=self.vpc
        ).security_group
        write_outputs(
            self,
            NetworkOutputs(
                vpc_id=self.vpc.vpc_id,
                private_subnet_ids=tuple(s.subnet_id for s in self.vpc.private_subnets),
                public_subnet_ids=(self.public_subnet.subnet_id,),
                availability_zones=tuple(network.availability_zones),
                training_security_group_id=self.training_security_group.security_group_id,
            ),
        )


def _first_zones() -> tuple[str, ...]:
    """Return tokens of the first zones of the region that CloudFormation deploys to."""
    return tuple(Fn.select(index, Fn.get_azs()) for index in range(ZONES))
