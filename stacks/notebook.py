"""NotebookStack: where jobs are launched from."""

from __future__ import annotations

from typing import Any

from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.constructs.notebook_instance import GitRepository, NotebookInstance
from stacks.constructs.notebook_role import NotebookRole
from stacks.constructs.notebook_scripts import OnStartValues, render
from stacks.constructs.notebook_source import NotebookSource
from stacks.contract import write_outputs
from stacks.registry import RegistryStack
from stacks.settings import Settings
from stacks.settings.notebook import NotebookSettings
from stacks.storage import StorageStack
from training.outputs import CONTRACTS, NotebookOutputs, StorageOutputs


class NotebookStack(Stack):
    """A notebook instance that has the file systems mounted and this project installed."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        vpc: ec2.IVpc,
        security_group: ec2.ISecurityGroup,
        storage: StorageStack,
        registry: RegistryStack,
        **stack_options: Any,
    ) -> None:
        """Build it.

        Args:
            settings: All of them.
            vpc: With its private subnets.
            security_group: The one that the file systems admit.
            storage: Of data, logs and models, and of the role that jobs act as.
            registry: Of the images, and what builds them.
            stack_options: Of `aws_cdk.Stack`.
        """
        super().__init__(scope, construct_id, **stack_options)
        name = settings.notebook.name
        source = NotebookSource(self, "Source")
        access = NotebookRole(
            self,
            "Access",
            notebook_name=name,
            project=settings.general.project,
            bucket=storage.bucket,
            key=storage.key,
            prefix=storage.prefix,
            training_role=storage.training_role,
            repositories=registry.repositories,
            builds=registry.builder.may_start() if registry.builder else (),
            stack_names=[contract.STACK for contract in CONTRACTS],
            source=source.may_read(),
            shared=storage.shared.file_system,
            lustre_id=storage.fast.file_system_id if storage.fast else None,
            is_root_on_shared=settings.efs.root_access == "iam",
            git_secret_arn=settings.notebook.git_secret_arn,
        )
        instance = NotebookInstance(
            self,
            "Notebook",
            name=name,
            instance_type=settings.notebook.instance_type,
            volume_gib=settings.notebook.volume_gib,
            subnet=vpc.private_subnets[settings.notebook_zone - 1],
            security_group=security_group,
            role=access.role,
            key=storage.key,
            root_access=settings.notebook.root_access,
            on_start=render(_on_start(name, settings, source, storage.outputs)),
            git=_git(settings.notebook),
        )
        # Its first start fetches the source and writes a log, which takes the role's policies.
        instance.node.add_dependency(access)
        write_outputs(
            self, NotebookOutputs(notebook_name=name, notebook_role_arn=access.role.role_arn)
        )


def _git(settings: NotebookSettings) -> GitRepository | None:
    if not settings.git_repository:
        return None
    return GitRepository(
        url=settings.git_repository,
        branch=settings.git_branch,
        secret_arn=settings.git_secret_arn,
    )


def _on_start(
    name: str, settings: Settings, source: NotebookSource, storage: StorageOutputs
) -> OnStartValues:
    wheels = settings.notebook_wheels
    return OnStartValues(
        notebook_name=name,
        region=Aws.REGION,
        efs_dns_name=f"{storage.efs_id}.efs.{Aws.REGION}.{Aws.URL_SUFFIX}",
        efs_with_role=storage.efs_id if settings.efs.root_access == "iam" else "",
        fsx_dns_name=storage.fsx_dns_name or "",
        fsx_mount_name=storage.fsx_mount_name or "",
        fsx_data_path=storage.fsx_data_path or "",
        source_bucket=source.bucket_name,
        source_key=source.object_key,
        source_sha256=source.sha256,
        wheels=f"s3://{storage.bucket_name}/{wheels}" if wheels else "",
        idle_minutes=settings.notebook.idle_minutes,
    )
