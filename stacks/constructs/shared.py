"""What every EFS file system has, new or existing."""

from __future__ import annotations

from typing import Protocol

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs


class Shared(Protocol):
    """A file system that every zone reaches."""

    file_system: efs.IFileSystem
    security_group: ec2.ISecurityGroup
    """Of its mount targets."""


def let_clients_mount(targets: ec2.ISecurityGroup, clients: ec2.ISecurityGroup) -> None:
    targets.connections.allow_from(clients, ec2.Port.tcp(2049), "Training jobs mount EFS over NFS")
