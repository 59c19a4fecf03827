"""An EFS file system that is there already, with mount targets or without."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from constructs import Construct

from stacks.constructs.shared import let_clients_mount


class ExistingSharedFileSystem(Construct):
    """Makes an existing file system reachable; its policy and its data are left alone.

    It is a `stacks.constructs.shared.Shared`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        file_system_id: str,
        vpc: ec2.IVpc,
        clients: ec2.ISecurityGroup,
        mount_targets: ec2.ISecurityGroup | None,
    ) -> None:
        """Build it.

        Args:
            file_system_id: `fs-…`.
            vpc: Where jobs run.
            clients: Who mounts it.
            mount_targets: The security group of the mount targets that there are. Import it as
                not mutable where it admits the clients already. None: make mount targets, one in
                each private subnet.
        """
        super().__init__(scope, construct_id)
        self.security_group = mount_targets or self._make_mount_targets(file_system_id, vpc)
        self.file_system: efs.IFileSystem = efs.FileSystem.from_file_system_attributes(
            self,
            "FileSystem",
            file_system_id=file_system_id,
            security_group=self.security_group,
        )
        let_clients_mount(self.security_group, clients)

    def _make_mount_targets(self, file_system_id: str, vpc: ec2.IVpc) -> ec2.ISecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="EFS mount targets",
            allow_all_outbound=False,
        )
        for number, subnet in enumerate(vpc.private_subnets, start=1):
            # L1: CDK's L2 makes mount targets only of a file system that it makes itself.
            efs.CfnMountTarget(
                self,
                f"MountTarget{number}",
                file_system_id=file_system_id,
                subnet_id=subnet.subnet_id,
                security_groups=[group.security_group_id],
            )
        return group
