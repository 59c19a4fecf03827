"""What a node of the cluster may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.data_access import may_read_and_write
from stacks.constructs.file_system_access import may_be_root
from stacks.constructs.registry_access import may_pull_images_of, may_sign_in
from stacks.endpoint_services import BY_NAME
from training.outputs import PROJECT_TAG


@dataclass(frozen=True, kw_only=True)
class NodeRights:
    """What both kinds of nodes work with."""

    project: str
    """Whose images they may pull: the value of the tag on their repositories."""
    stack_id: str
    """Of the stack that they tell how their set-up went."""
    programs: iam.PolicyStatement
    """What lets them fetch their programs."""
    bucket: s3.IBucket
    prefix: str | None
    log_group: logs.ILogGroup
    key: kms.IKey
    """Of the secret."""
    secret_arn: str
    root_of: efs.IFileSystem | None
    """EFS, where nodes are root on it because of their role."""


class NodeRole(Construct):
    """The role of head or worker, and its instance profile.

    AWS's AmazonSSMManagedInstanceCore is not attached: it also reads every parameter of the account
    and reports patches and inventories, which no node does. Left out of it here is State Manager
    too, whose questions the agent then logs as refused.

    Attributes:
        role: What the node's programs act as.
        profile_arn: What an instance is launched with.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        node: str,
        rights: NodeRights,
        may_also: Sequence[iam.PolicyStatement] = (),
    ) -> None:
        """Build it.

        Args:
            node: `head` or `worker`.
            rights: What both kinds have.
            may_also: What this kind has beside it.
        """
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            description=f"The {node} of the cluster of distributed Mask R-CNN",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        )
        # L1: the L2 of an instance is made with a role, and a launch template's L1 with a profile.
        self.profile_arn = iam.CfnInstanceProfile(
            self, "Profile", roles=[self.role.role_name]
        ).attr_arn
        self._add_policy(
            "Data",
            "Reads and writes the training bucket, pulls the training images",
            [
                *may_read_and_write(rights.bucket, rights.prefix),
                may_sign_in(),
                may_pull_images_of(rights.project),
            ],
        )
        self._add_policy(
            "Node",
            "Sets the node up, keeps its log and hears commands",
            [
                rights.programs,
                *_agent(),
                *_set_up(rights),
                *([may_be_root(rights.root_of)] if rights.root_of else []),
                *may_also,
            ],
        )

    def _add_policy(
        self, policy_id: str, description: str, statements: Sequence[iam.PolicyStatement]
    ) -> None:
        iam.ManagedPolicy(
            self, policy_id, description=description, roles=[self.role], statements=statements
        )


def may_conduct(
    *, head_group: str, worker_group: str, secret_arn: str, key: kms.IKey
) -> list[iam.PolicyStatement]:
    """Return what the head does beside it: it starts, ends and judges nodes, and makes the keys.

    The groups are named by their names: what comes before it in their ARNs is an id that
    Auto Scaling makes.
    """
    return [
        iam.PolicyStatement(
            actions=["autoscaling:SetDesiredCapacity"], resources=[_group(worker_group)]
        ),
        iam.PolicyStatement(
            actions=[
                "autoscaling:SetInstanceHealth",
                "autoscaling:TerminateInstanceInAutoScalingGroup",
            ],
            resources=[_group(head_group), _group(worker_group)],
        ),
        iam.PolicyStatement(
            actions=["autoscaling:DescribeScalingActivities"],
            resources=["*"],  # Auto Scaling knows no resource for its lists.
        ),
        iam.PolicyStatement(actions=["secretsmanager:PutSecretValue"], resources=[secret_arn]),
        iam.PolicyStatement(actions=["kms:GenerateDataKey"], resources=[key.key_arn]),
    ]


def may_take_address(allocation_id: str, *, project: str) -> list[iam.PolicyStatement]:
    """Return what the head needs to take the cluster's Elastic IP on itself.

    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
    """
    return [
        iam.PolicyStatement(
            actions=["ec2:AssociateAddress"], resources=[_arn("ec2", f"elastic-ip/{allocation_id}")]
        ),
        iam.PolicyStatement(
            actions=["ec2:AssociateAddress"],
            # EC2 names them; both have the project's tag from their launch.
            resources=[_arn("ec2", "instance/*"), _arn("ec2", "network-interface/*")],
            conditions={"StringEquals": {f"aws:ResourceTag/{PROJECT_TAG}": project}},
        ),
    ]


def _agent() -> list[iam.PolicyStatement]:
    """Return what the SSM agent does for Run Command and Session Manager.

    https://docs.aws.amazon.com/systems-manager/latest/userguide/ssm-agent-minimum-s3-permissions.html
    https://docs.aws.amazon.com/systems-manager/latest/userguide/systems-manager-setting-up-messageAPIs.html
    """
    return [
        iam.PolicyStatement(
            actions=["ssm:UpdateInstanceInformation"],
            # Of itself; EC2 names instances.
            resources=[_arn("ec2", "instance/*")],
        ),
        iam.PolicyStatement(
            actions=[*BY_NAME["ec2messages"].actions, *BY_NAME["ssmmessages"].actions],
            resources=["*"],  # Neither service knows a resource.
        ),
    ]


def _set_up(rights: NodeRights) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(actions=["cloudformation:SignalResource"], resources=[rights.stack_id]),
        iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            resources=[rights.log_group.log_group_arn],
        ),
        iam.PolicyStatement(
            actions=["secretsmanager:GetSecretValue"], resources=[rights.secret_arn]
        ),
        iam.PolicyStatement(actions=["kms:Decrypt"], resources=[rights.key.key_arn]),
        iam.PolicyStatement(
            actions=["autoscaling:DescribeAutoScalingGroups"],
            resources=["*"],  # Auto Scaling knows no resource for its lists.
        ),
    ]


def _group(name: str) -> str:
    return _arn("autoscaling", f"autoScalingGroup:*:autoScalingGroupName/{name}")


def _arn(service: str, resource: str) -> str:
    return f"arn:{Aws.PARTITION}:{service}:{Aws.REGION}:{Aws.ACCOUNT_ID}:{resource}"
