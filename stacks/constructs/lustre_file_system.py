"""FSx for Lustre: the fast file system, in one zone, that mirrors the bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

LUSTRE_VERSION = "2.15"
"""Associations need 2.12 or newer; 2.15 has clients for current kernels.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html
"""

LUSTRE_PORTS = (
    (ec2.Port.tcp(988), "LNET"),
    (ec2.Port.tcp_range(1018, 1023), "LNET from privileged ports"),
)
"""Between clients and servers, and among servers, both ways.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

EVENTS = ("NEW", "CHANGED", "DELETED")


@dataclass(frozen=True, kw_only=True)
class LustreOptions:
    """What the file system is made of and how it mirrors the bucket."""

    deployment: Literal["PERSISTENT_2", "SCRATCH_2"]
    capacity_gib: int
    throughput_mbps_per_tib: int | None
    """None where the deployment type fixes it."""
    compression: Literal["LZ4", "NONE"]
    bucket_link: Literal["association", "import_path"]
    data_path: str
    """The folder that an association links to the bucket, such as `/data`."""
    removal: Literal["destroy", "retain"]


class LustreFileSystem(Construct):
    """A Lustre file system with its security group and its link to the bucket.

    L1, since CDK's L2 opens ports 988 to 1023 within the group and knows no association.

    Attributes:
        data_path: The folder that mirrors the bucket's root.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        key: kms.IKey,
        bucket: s3.IBucket,
        clients: ec2.ISecurityGroup,
        options: LustreOptions,
    ) -> None:
        super().__init__(scope, construct_id)
        self.subnet = subnet
        self.security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="FSx for Lustre servers",
            allow_all_outbound=False,
        )
        self._open_ports(clients)
        self._file_system = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="LUSTRE",
            file_system_type_version=LUSTRE_VERSION,
            storage_type="SSD",
            storage_capacity=options.capacity_gib,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[self.security_group.security_group_id],
            # Scratch file systems are encrypted with a key of the service; they take no other.
            kms_key_id=key.key_arn if options.deployment == "PERSISTENT_2" else None,
            lustre_configuration=_lustre_configuration(options, bucket),
        )
        # FSx looks at the group when it makes the file system, and refuses one without port 988.
        self._file_system.node.add_dependency(self.security_group)
        self._file_system.apply_removal_policy(_removal_policy(options))
        self.file_system_id = self._file_system.ref
        self.mount_name = self._file_system.attr_lustre_mount_name
        self.dns_name = self._file_system.attr_dns_name
        self.data_path = "/"
        if options.bucket_link == "association":
            self.data_path = options.data_path
            self._associate(bucket, options)

    def _open_ports(self, clients: ec2.ISecurityGroup) -> None:
        connections = self.security_group.connections
        for port, what in LUSTRE_PORTS:
            connections.allow_internally(port, f"Lustre servers to each other: {what}")
            connections.allow_from(clients, port, f"Lustre clients to servers: {what}")
            connections.allow_to(clients, port, f"Lustre servers to clients: {what}")

    def _associate(self, bucket: s3.IBucket, options: LustreOptions) -> None:
        association = fsx.CfnDataRepositoryAssociation(
            self,
            "BucketAssociation",
            file_system_id=self.file_system_id,
            file_system_path=options.data_path,
            data_repository_path=f"s3://{bucket.bucket_name}",
            batch_import_meta_data_on_create=True,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(
                    events=list(EVENTS)
                ),
                auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(
                    events=list(EVENTS)
                ),
            ),
        )
        association.apply_removal_policy(_removal_policy(options))


def _lustre_configuration(
    options: LustreOptions, bucket: s3.IBucket
) -> fsx.CfnFileSystem.LustreConfigurationProperty:
    imports = options.bucket_link == "import_path"
    repository = f"s3://{bucket.bucket_name}"
    return fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type=options.deployment,
        per_unit_storage_throughput=options.throughput_mbps_per_tib,
        data_compression_type=options.compression,
        import_path=repository if imports else None,
        # The same place as imports; without it FSx exports to a folder of its own.
        export_path=repository if imports else None,
        auto_import_policy="NEW_CHANGED_DELETED" if imports else None,
    )


def _removal_policy(options: LustreOptions) -> RemovalPolicy:
    return RemovalPolicy.RETAIN if options.removal == "retain" else RemovalPolicy.DESTROY
