"""FSx for Lustre: the fast file system, in one zone, that mirrors the bucket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeGuard

from aws_cdk import CfnResource, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct, IDependable

from stacks.constructs.lustre import open_efa, open_ports_among_servers, open_ports_to_clients

_AUTO_IMPORT_POLICIES: Mapping[tuple[str, ...], str] = {
    (): "NONE",
    ("NEW",): "NEW",
    ("NEW", "CHANGED"): "NEW_CHANGED",
    ("NEW", "CHANGED", "DELETED"): "NEW_CHANGED_DELETED",
}


@dataclass(frozen=True, kw_only=True)
class LustreOptions:
    """What the file system is made of and how it mirrors the bucket."""

    deployment: Literal["PERSISTENT_2", "PERSISTENT_1", "SCRATCH_2"]
    lustre_version: Literal["2.15", "2.12"]
    capacity_gib: int
    throughput_mbps_per_tib: int | None
    """None where the deployment type fixes it."""
    metadata_iops: int | None
    """None: as many as come with the capacity."""
    compression: Literal["LZ4", "NONE"]
    efa: bool
    bucket_link: Literal["association", "import_path", "none"]
    bucket_prefix: str | None
    """What is mirrored of the bucket, such as `ml-platform`; None: all of it."""
    import_events: tuple[str, ...]
    """Some of NEW, CHANGED and DELETED."""
    export_events: tuple[str, ...]
    data_path: str
    """The folder that an association links to the bucket, such as `/data`."""
    removal: Literal["destroy", "retain"]

    @property
    def is_persistent(self) -> bool:
        return self.deployment != "SCRATCH_2"


class LustreFileSystem(Construct):
    """A Lustre file system with its security group and its link to the bucket.

    L1, since CDK's L2 opens ports 988 to 1023 within the group and knows no association.
    It is a `stacks.constructs.lustre.Lustre`.
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
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="FSx for Lustre servers",
            allow_all_outbound=False,
        )
        efa_rules = self._open_ports(clients, options)
        self._file_system = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="LUSTRE",
            file_system_type_version=options.lustre_version,
            storage_type="SSD",
            storage_capacity=options.capacity_gib,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[self.security_group.security_group_id],
            # Scratch file systems are encrypted with a key of the service; they take no other.
            kms_key_id=key.key_arn if options.is_persistent else None,
            lustre_configuration=_lustre_configuration(options, bucket),
        )
        # FSx looks at the group when it makes the file system, and refuses one without port 988,
        # or for EFA without all ports.
        self._file_system.node.add_dependency(self.security_group, *efa_rules)
        self._file_system.apply_removal_policy(_removal_policy(options))
        if options.removal == "retain":
            self._keep_group()
        self.file_system_id = self._file_system.ref
        self.mount_name = self._file_system.attr_lustre_mount_name
        self.dns_name = self._file_system.attr_dns_name
        self.data_path = options.data_path
        if options.bucket_link == "association":
            self._associate(bucket, options)

    def _open_ports(self, clients: ec2.ISecurityGroup, options: LustreOptions) -> list[IDependable]:
        """Return the rules that are not the group's own children."""
        open_ports_among_servers(self.security_group)
        open_ports_to_clients(self.security_group, clients)
        if not options.efa:
            return []
        return open_efa(self, servers=self.security_group, clients=clients)

    def _keep_group(self) -> None:
        """Let the group stay with a file system that stays: AWS does not delete one in use.

        So do the rules among the servers, without which it does not work. Those of the clients go:
        who takes the file system up again (fsx_id) makes them anew.
        """
        for resource in self.node.find_all():
            if isinstance(resource, ec2.CfnSecurityGroup) or _is_among_servers(resource):
                resource.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)

    def _associate(self, bucket: s3.IBucket, options: LustreOptions) -> None:
        association = fsx.CfnDataRepositoryAssociation(
            self,
            "BucketAssociation",
            file_system_id=self.file_system_id,
            file_system_path=options.data_path,
            data_repository_path=_s3_path(bucket, options.bucket_prefix),
            batch_import_meta_data_on_create=True,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(
                    events=list(options.import_events)
                )
                if options.import_events
                else None,
                auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(
                    events=list(options.export_events)
                )
                if options.export_events
                else None,
            ),
        )
        association.apply_removal_policy(_removal_policy(options))


def _is_among_servers(resource: IConstruct) -> TypeGuard[CfnResource]:
    if isinstance(resource, ec2.CfnSecurityGroupIngress):
        return resource.group_id == resource.source_security_group_id
    if isinstance(resource, ec2.CfnSecurityGroupEgress):
        return resource.group_id == resource.destination_security_group_id
    return False


def _lustre_configuration(
    options: LustreOptions, bucket: s3.IBucket
) -> fsx.CfnFileSystem.LustreConfigurationProperty:
    imports = options.bucket_link == "import_path"
    return fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type=options.deployment,
        per_unit_storage_throughput=options.throughput_mbps_per_tib,
        data_compression_type=options.compression,
        efa_enabled=options.efa or None,
        metadata_configuration=_metadata_configuration(options),
        import_path=_s3_path(bucket, options.bucket_prefix) if imports else None,
        # The root of the file system stands for the root of the bucket, whatever part of it is
        # imported: with this path what was imported goes back to where it was. Without a path FSx
        # exports to a folder of its own.
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/older-deployment-types.html
        export_path=_s3_path(bucket, None) if imports else None,
        auto_import_policy=_AUTO_IMPORT_POLICIES[options.import_events] if imports else None,
    )


def _metadata_configuration(
    options: LustreOptions,
) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
    if options.metadata_iops is not None:
        return fsx.CfnFileSystem.MetadataConfigurationProperty(
            mode="USER_PROVISIONED", iops=options.metadata_iops
        )
    if options.efa:
        # FSx refuses EFA without a metadata configuration.
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")
    return None


def _s3_path(bucket: s3.IBucket, prefix: str | None) -> str:
    # With the slash that FSx puts behind a prefix, so that template and file system agree.
    return f"s3://{bucket.bucket_name}" + (f"/{prefix}/" if prefix else "")


def _removal_policy(options: LustreOptions) -> RemovalPolicy:
    return (
        RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        if options.removal == "retain"
        else RemovalPolicy.DESTROY
    )
