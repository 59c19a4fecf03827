"""StorageStack: where data, logs and models live."""

from __future__ import annotations

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.constructs.data_bucket import DataBucket
from stacks.constructs.lustre_file_system import LustreFileSystem, LustreOptions
from stacks.constructs.shared_file_system import SharedFileSystem
from stacks.constructs.storage_key import StorageKey
from stacks.contract import write_outputs
from stacks.settings import Settings
from training.outputs import StorageOutputs


class StorageStack(Stack):
    """Bucket, EFS and FSx for Lustre, under one key, open to the training security group."""

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
        key = StorageKey(self, "Encryption").key
        bucket = DataBucket(self, "Data", key=key).bucket
        shared = SharedFileSystem(self, "Shared", vpc=vpc, key=key, clients=training_security_group)
        fast = LustreFileSystem(
            self,
            "Fast",
            vpc=vpc,
            subnet=vpc.private_subnets[settings.fsx_zone - 1],
            key=key,
            bucket=bucket,
            clients=training_security_group,
            options=_lustre_options(settings),
        )
        write_outputs(
            self,
            StorageOutputs(
                bucket_name=bucket.bucket_name,
                encryption_key_arn=key.key_arn,
                efs_id=shared.file_system.file_system_id,
                efs_security_group_id=shared.security_group.security_group_id,
                fsx_id=fast.file_system_id,
                fsx_mount_name=fast.mount_name,
                fsx_dns_name=fast.dns_name,
                fsx_subnet_id=fast.subnet.subnet_id,
                fsx_security_group_id=fast.security_group.security_group_id,
                fsx_data_path=fast.data_path,
            ),
        )


def _lustre_options(settings: Settings) -> LustreOptions:
    return LustreOptions(
        deployment=settings.fsx_deployment,
        capacity_gib=settings.fsx_capacity_gib,
        throughput_mbps_per_tib=settings.effective_fsx_throughput_mbps_per_tib,
        compression=settings.fsx_compression,
        bucket_link=settings.fsx_bucket_link,
        data_path=settings.fsx_data_path,
        removal=settings.fsx_removal,
    )
