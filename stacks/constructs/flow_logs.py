"""A record of the VPC's connections."""

from typing import cast

from aws_cdk import Aws, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.log_key import let_cloudwatch_logs_use


class FlowLogs(Construct):
    """Flow logs of a VPC in an encrypted CloudWatch log group, which outlives the stack."""

    def __init__(
        self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc, retention_days: int
    ) -> None:
        super().__init__(scope, construct_id)
        key = kms.Key(
            self,
            "Key",
            description="Encrypts the flow logs of the training VPC",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        let_cloudwatch_logs_use(key)
        group = logs.LogGroup(
            self,
            "LogGroup",
            encryption_key=key,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        # The construct takes an enumeration of names such as TWO_WEEKS; the settings have days.
        cast(logs.CfnLogGroup, group.node.default_child).retention_in_days = retention_days
        role = self._add_writer(group)
        ec2.FlowLog(
            self,
            "FlowLog",
            resource_type=ec2.FlowLogResourceType.from_vpc(vpc),
            traffic_type=ec2.FlowLogTrafficType.ALL,
            # Without updates: the construct would give the role an inline policy of its own.
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(
                group, role.without_policy_updates()
            ),
        )

    def _add_writer(self, group: logs.ILogGroup) -> iam.Role:
        """Make the role that VPC Flow Logs takes on, for flow logs of this account and region.

        https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
        """
        flow_logs = Stack.of(self).format_arn(
            service="ec2", resource="vpc-flow-log", resource_name="*"
        )
        role = iam.Role(
            self,
            "Writer",
            assumed_by=iam.ServicePrincipal(
                "vpc-flow-logs.amazonaws.com",
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {"aws:SourceArn": flow_logs},
                },
            ),
        )
        policy = iam.ManagedPolicy(self, "WriterPolicy", roles=[role])
        group.grant(policy, "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
        return role
