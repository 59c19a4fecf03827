"""An FSx for Lustre file system that is there already."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.constructs.lustre import open_ports_to_clients


class ExistingLustreFileSystem(Construct):
    """Lets the clients in and tells where the file system is; nothing of it is changed.

    It is a `stacks.constructs.lustre.Lustre`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        file_system_id: str,
        mount_name: str,
        subnet: ec2.ISubnet,
        security_group: ec2.ISecurityGroup,
        data_path: str,
        clients: ec2.ISecurityGroup,
    ) -> None:
        """Build it.

        Args:
            file_system_id: `fs-…`.
            mount_name: As FSx gave it.
            subnet: One in the file system's zone.
            security_group: The servers'. Import it as not mutable where it has its rules already.
            data_path: The folder that mirrors the bucket.
            clients: Who mounts it.
        """
        super().__init__(scope, construct_id)
        self.file_system_id = file_system_id
        self.mount_name = mount_name
        self.subnet = subnet
        self.security_group = security_group
        self.data_path = data_path
        self.dns_name = f"{file_system_id}.fsx.{Aws.REGION}.{Aws.URL_SUFFIX}"
        open_ports_to_clients(security_group, clients)
