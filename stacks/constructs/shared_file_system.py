"""EFS: the file system that every zone reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from aws_cdk import RemovalPolicy, Size
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from stacks.constructs.shared import let_clients_mount

_LIFECYCLE_POLICIES: Mapping[int, efs.LifecyclePolicy] = {
    1: efs.LifecyclePolicy.AFTER_1_DAY,
    7: efs.LifecyclePolicy.AFTER_7_DAYS,
    14: efs.LifecyclePolicy.AFTER_14_DAYS,
    30: efs.LifecyclePolicy.AFTER_30_DAYS,
    60: efs.LifecyclePolicy.AFTER_60_DAYS,
    90: efs.LifecyclePolicy.AFTER_90_DAYS,
    180: efs.LifecyclePolicy.AFTER_180_DAYS,
    270: efs.LifecyclePolicy.AFTER_270_DAYS,
    365: efs.LifecyclePolicy.AFTER_365_DAYS,
}


@dataclass(frozen=True, kw_only=True)
class SharedOptions:
    """What the file system is made of, and who may be root on it."""

    throughput_mode: Literal["elastic", "bursting", "provisioned"]
    provisioned_mibps: int | None
    """MiB/s, where the mode is provisioned."""
    infrequent_access_days: int | None
    """After so many days without access a file goes to a cheaper class; None: never."""
    backups: bool
    root_access: Literal["anyone", "iam"]
    """`iam`: only who mounts with a role that may `elasticfilesystem:ClientRootAccess`."""


class SharedFileSystem(Construct):
    """An encrypted EFS with a mount target in each private subnet; it outlives the stack.

    It is a `stacks.constructs.shared.Shared`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        key: kms.IKey,
        clients: ec2.ISecurityGroup,
        options: SharedOptions,
    ) -> None:
        super().__init__(scope, construct_id)
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="EFS mount targets",
            allow_all_outbound=False,
        )
        days, mibps = options.infrequent_access_days, options.provisioned_mibps
        file_system = efs.FileSystem(
            self,
            "FileSystem",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=vpc.private_subnets),
            security_group=self.security_group,
            encrypted=True,
            kms_key=key,
            throughput_mode=efs.ThroughputMode[options.throughput_mode.upper()],
            provisioned_throughput_per_second=Size.mebibytes(mibps) if mibps else None,
            lifecycle_policy=_LIFECYCLE_POLICIES[days] if days else None,
            # Always, so that files come back where the other policy is switched off.
            out_of_infrequent_access_policy=efs.OutOfInfrequentAccessPolicy.AFTER_1_ACCESS,
            file_system_policy=_policy(options),
            # Else CDK adds a statement of its own, which lets nobody mount (aws/aws-cdk#36224).
            allow_anonymous_access=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        _set_backups(file_system, options)
        self.file_system: efs.IFileSystem = file_system
        let_clients_mount(self.security_group, clients)


def _set_backups(file_system: efs.FileSystem, options: SharedOptions) -> None:
    """Switch backups on or off.

    On the L1: CDK writes nothing for off, and CloudFormation would leave on what was on.
    """
    resource = file_system.node.default_child
    assert isinstance(resource, efs.CfnFileSystem)
    resource.backup_policy = efs.CfnFileSystem.BackupPolicyProperty(
        status="ENABLED" if options.backups else "DISABLED"
    )


def _policy(options: SharedOptions) -> iam.PolicyDocument:
    """Say what those may do who reach a mount target, which the security group decides.

    SageMaker mounts without TLS, without a role and without an access point, so nothing may be
    asked for that a plain NFS client does not have; AccessedViaMountTarget is all that it has, and
    is what makes the policy not public. Without ClientRootAccess, root is squashed to nobody, who
    cannot write to a new file system. docs/architecture.md has the reasons with their sources.
    """
    actions = ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"]
    if options.root_access == "anyone":
        actions.append("elasticfilesystem:ClientRootAccess")
    statement = iam.PolicyStatement(
        sid="ClientsOfTheMountTargets",
        principals=[iam.AnyPrincipal()],
        actions=actions,
        conditions={"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
    )
    return iam.PolicyDocument(statements=[statement])
