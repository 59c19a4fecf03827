"""StorageStack: where data, logs and models live."""

from __future__ import annotations

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.data_bucket import BucketOptions, DataBucket
from stacks.constructs.datasync_role import DataSyncRole
from stacks.constructs.existing_lustre_file_system import ExistingLustreFileSystem
from stacks.constructs.existing_shared_file_system import ExistingSharedFileSystem
from stacks.constructs.lustre import Lustre
from stacks.constructs.lustre_file_system import LustreFileSystem, LustreOptions
from stacks.constructs.shared import Shared
from stacks.constructs.shared_file_system import SharedFileSystem, SharedOptions
from stacks.constructs.storage_key import StorageKey
from stacks.constructs.training_role import TrainingRole
from stacks.contract import write_outputs
from stacks.settings import Settings
from stacks.settings.bucket import BucketSettings
from stacks.settings.efs import EfsSettings
from training.outputs import StorageOutputs


class StorageStack(Stack):
    """Bucket, EFS and FSx for Lustre, each new or existing, open to the training security group.

    Attributes:
        key: Encrypts what the stack makes.
        bucket: With its key, where it has one, so that a grant on it covers the key too.
        prefix: The folder of the bucket below which everything of ours lies; None: all of it.
        shared: EFS.
        fast: FSx for Lustre; None where there is none.
        training_role: What jobs act as.
        outputs: What the stack tells.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        vpc: ec2.IVpc,
        training_security_group: ec2.ISecurityGroup,
        **stack_options: Any,
    ) -> None:
        super().__init__(scope, construct_id, **stack_options)
        self._settings = settings
        self._vpc = vpc
        self._clients = training_security_group
        self.key = self._make_key()
        self.bucket = self._make_bucket()
        self.prefix = settings.bucket.prefix
        self.shared = self._make_shared()
        self.fast = self._make_fast()
        self.training_role = TrainingRole(
            self,
            "Training",
            bucket=self.bucket,
            key=self.key,
            vpc=vpc,
            shared=self.shared.file_system,
            lustre_id=self.fast.file_system_id if self.fast else None,
            project=settings.general.project,
            prefix=self.prefix,
        ).role
        self._datasync_role = self._make_datasync_role()
        self.outputs = self._outputs()
        write_outputs(self, self.outputs)

    def _make_key(self) -> kms.IKey:
        settings = self._settings
        if settings.bucket.storage_key_arn is not None:
            return kms.Key.from_key_arn(self, "ExistingEncryption", settings.bucket.storage_key_arn)
        return StorageKey(
            self,
            "Encryption",
            lustre_uses_bucket=settings.bucket.name is None and settings.fsx.may_use_bucket,
        ).key

    def _make_bucket(self) -> s3.IBucket:
        settings = self._settings.bucket
        if settings.name is None:
            return DataBucket(self, "Data", key=self.key, options=_bucket_options(settings)).bucket
        key_arn = settings.encryption_key_arn
        return s3.Bucket.from_bucket_attributes(
            self,
            "ExistingData",
            bucket_name=settings.name,
            encryption_key=(
                kms.Key.from_key_arn(self, "ExistingDataEncryption", key_arn) if key_arn else None
            ),
        )

    def _make_shared(self) -> Shared:
        settings = self._settings.efs
        if settings.file_system_id is None:
            return SharedFileSystem(
                self,
                "Shared",
                vpc=self._vpc,
                key=self.key,
                clients=self._clients,
                options=_shared_options(settings),
            )
        mount_targets, clients = None, self._clients
        if settings.security_group_id:
            mount_targets, clients = self._existing_groups(
                "MountTargets", settings.security_group_id, settings.security_group_rules
            )
        return ExistingSharedFileSystem(
            self,
            "ExistingShared",
            file_system_id=settings.file_system_id,
            vpc=self._vpc,
            clients=clients,
            mount_targets=mount_targets,
        )

    def _make_fast(self) -> Lustre | None:
        settings = self._settings.fsx
        if not settings.is_wanted:
            return None
        subnet = self._vpc.private_subnets[settings.zone - 1]
        if settings.file_system_id is None:
            return LustreFileSystem(
                self,
                "Fast",
                vpc=self._vpc,
                subnet=subnet,
                key=self.key,
                bucket=self.bucket,
                clients=self._clients,
                options=_lustre_options(self._settings),
            )
        # The settings see to it that these come with the id.
        assert settings.mount_name is not None
        assert settings.security_group_id is not None
        servers, clients = self._existing_groups(
            "LustreServers", settings.security_group_id, settings.security_group_rules
        )
        return ExistingLustreFileSystem(
            self,
            "ExistingFast",
            file_system_id=settings.file_system_id,
            mount_name=settings.mount_name,
            subnet=subnet,
            security_group=servers,
            data_path=settings.effective_data_path(self._settings.bucket.prefix),
            clients=clients,
        )

    def _make_datasync_role(self) -> iam.IRole | None:
        if not self._settings.bucket.datasync:
            return None
        return DataSyncRole(
            self,
            "DataSync",
            bucket=self.bucket,
            prefix=self.prefix,
            shared=self.shared.file_system,
        ).role

    def _existing_groups(
        self, construct_id: str, group_id: str, rules: str
    ) -> tuple[ec2.ISecurityGroup, ec2.ISecurityGroup]:
        """Return an existing group and that of the clients: rules go where they are missing.

        Where the rules exist, none is added to a group that is not ours: AWS refuses one twice.
        """
        missing = rules == "create"
        # What an existing group lets out is not known; a rule of ours does no harm beside a wider.
        group = ec2.SecurityGroup.from_security_group_id(
            self, construct_id, group_id, mutable=missing, allow_all_outbound=False
        )
        clients_id = self._settings.network.training_security_group_id
        if missing or clients_id is None:
            return group, self._clients
        clients = ec2.SecurityGroup.from_security_group_id(
            self, f"{construct_id}Clients", clients_id, mutable=False
        )
        return group, clients

    def _outputs(self) -> StorageOutputs:
        shared, fast = self.shared, self.fast
        return StorageOutputs(
            bucket_name=self.bucket.bucket_name,
            bucket_prefix=self.prefix,
            encryption_key_arn=self.key.key_arn,
            efs_id=shared.file_system.file_system_id,
            efs_security_group_id=shared.security_group.security_group_id,
            efs_mount_targets=self._settings.efs.mount_targets,
            fsx_id=fast.file_system_id if fast else None,
            fsx_mount_name=fast.mount_name if fast else None,
            fsx_dns_name=fast.dns_name if fast else None,
            fsx_subnet_id=fast.subnet.subnet_id if fast else None,
            fsx_availability_zone=fast.subnet.availability_zone if fast else None,
            fsx_security_group_id=fast.security_group.security_group_id if fast else None,
            fsx_data_path=fast.data_path if fast else None,
            training_role_arn=self.training_role.role_arn,
            datasync_role_arn=self._datasync_role.role_arn if self._datasync_role else None,
        )


def _bucket_options(settings: BucketSettings) -> BucketOptions:
    return BucketOptions(
        access_logs=settings.access_logs,
        access_log_days=settings.access_log_days,
        old_version_days=settings.old_version_days,
        incomplete_upload_days=settings.incomplete_upload_days,
    )


def _shared_options(settings: EfsSettings) -> SharedOptions:
    return SharedOptions(
        throughput_mode=settings.throughput_mode,
        provisioned_mibps=settings.provisioned_mibps,
        infrequent_access_days=settings.infrequent_access_days,
        backups=settings.backups,
        root_access=settings.root_access,
    )


def _lustre_options(settings: Settings) -> LustreOptions:
    fsx, prefix = settings.fsx, settings.bucket.prefix
    return LustreOptions(
        deployment=fsx.deployment,
        lustre_version=fsx.lustre_version,
        capacity_gib=fsx.capacity_gib,
        throughput_mbps_per_tib=fsx.effective_throughput_mbps_per_tib,
        metadata_iops=fsx.metadata_iops,
        compression=fsx.compression,
        efa=fsx.efa,
        bucket_link=fsx.bucket_link,
        bucket_prefix=prefix,
        import_events=fsx.import_events,
        export_events=fsx.export_events,
        data_path=fsx.effective_data_path(prefix),
        removal=fsx.removal,
    )
