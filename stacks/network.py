"""NetworkStack: where jobs run."""

from __future__ import annotations

from typing import Any

from aws_cdk import CfnWaitConditionHandle, Fn, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.constructs.existing_vpc import ExistingVpc
from stacks.constructs.flow_logs import FlowLogs
from stacks.constructs.interface_endpoints import InterfaceEndpoints
from stacks.constructs.s3_endpoint import S3Endpoint
from stacks.constructs.small_vpc import SmallVpc
from stacks.constructs.training_security_group import (
    TrainingSecurityGroup,
    existing_training_security_group,
)
from stacks.contract import write_outputs
from stacks.endpoint_services import BY_NAME
from stacks.settings import Settings
from training.outputs import NetworkOutputs


class NetworkStack(Stack):
    """A VPC, made or existing, its ways out, its flow logs and the training security group.

    Attributes:
        vpc: With its private subnets, one a zone; `vpc_cidr_block` only where it is new.
        public_subnets: Those that the internet can reach; may be none.
        training_security_group: For every job and cluster.
        interface_endpoints: Ways to AWS services, which let others in too; None without any.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, **stack_options: Any
    ) -> None:
        super().__init__(scope, construct_id, **stack_options)
        self._settings = settings.network
        network = self._existing_vpc() if self._settings.vpc_id else self._new_vpc()
        self.vpc: ec2.IVpc = network.vpc
        self.public_subnets: tuple[ec2.ISubnet, ...] = network.public_subnets
        self.training_security_group = self._training_security_group()
        self.interface_endpoints = self._interface_endpoints()
        self._add_s3_endpoint_and_flow_logs()
        write_outputs(
            self,
            NetworkOutputs(
                project=settings.general.project,
                vpc_id=self.vpc.vpc_id,
                private_subnet_ids=tuple(s.subnet_id for s in self.vpc.private_subnets),
                public_subnet_ids=tuple(s.subnet_id for s in self.public_subnets),
                availability_zones=tuple(self.vpc.availability_zones),
                training_security_group_id=self.training_security_group.security_group_id,
            ),
        )

    def _new_vpc(self) -> SmallVpc:
        settings = self._settings
        return SmallVpc(
            self,
            "Network",
            cidr=str(settings.vpc_cidr),
            plan=settings.subnet_plan,
            availability_zones=settings.zone_names or _first_zones(settings.number_of_zones),
            nat_gateways=settings.number_of_nat_gateways,
        )

    def _existing_vpc(self) -> ExistingVpc:
        assert self._settings.vpc_id
        return ExistingVpc(
            self,
            "Network",
            vpc_id=self._settings.vpc_id,
            private_subnets=self._settings.private_subnets,
            public_subnets=self._settings.public_subnets,
        )

    def _training_security_group(self) -> ec2.ISecurityGroup:
        given = self._settings.training_security_group_id
        if given:
            return existing_training_security_group(
                self, "TrainingSecurityGroup", security_group_id=given
            )
        return TrainingSecurityGroup(self, "TrainingSecurityGroup", vpc=self.vpc).security_group

    def _interface_endpoints(self) -> InterfaceEndpoints | None:
        settings = self._settings
        if not settings.endpoint_names:
            return None
        endpoints = InterfaceEndpoints(
            self,
            "InterfaceEndpoints",
            vpc=self.vpc,
            services=[BY_NAME[name] for name in settings.endpoint_names],
            subnets=self.vpc.private_subnets[: settings.interface_endpoint_zones],
        )
        endpoints.allow_from(self.training_security_group, "Training jobs")
        return endpoints

    def _add_s3_endpoint_and_flow_logs(self) -> None:
        settings = self._settings
        if settings.s3_endpoint == "create":
            S3Endpoint(self, "S3Endpoint", vpc=self.vpc)
        if settings.flow_logs == "create":
            FlowLogs(
                self, "FlowLogs", vpc=self.vpc, retention_days=settings.flow_log_retention_days
            )
        if settings.adds_nothing:
            # CloudFormation takes no stack without a resource, and this one costs nothing.
            CfnWaitConditionHandle(self, "Nothing")


def _first_zones(count: int) -> tuple[str, ...]:
    """Return tokens of the first zones of the region that CloudFormation deploys to."""
    return tuple(Fn.select(index, Fn.get_azs()) for index in range(count))
