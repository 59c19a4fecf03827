"""A SageMaker notebook instance in a private subnet."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

PLATFORM = "notebook-al2023-v1"
"""https://docs.aws.amazon.com/sagemaker/latest/dg/nbi-al2023.html"""


@dataclass(frozen=True, kw_only=True)
class GitRepository:
    """A repository that SageMaker clones into the notebook."""

    url: str
    branch: str | None = None
    secret_arn: str | None = None
    """Holds user and token. SageMaker reads it; it never passes through a template."""


class NotebookInstance(Construct):
    """An encrypted notebook without a way into the internet but the VPC's.

    L1, since CDK has no L2 of them.

    Attributes:
        name: Of the instance.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        instance_type: str,
        volume_gib: int,
        subnet: ec2.ISubnet,
        security_group: ec2.ISecurityGroup,
        role: iam.IRole,
        key: kms.IKey,
        root_access: bool,
        on_start: str,
        git: GitRepository | None = None,
    ) -> None:
        """Build it.

        Args:
            name: Of the instance; another name makes another instance.
            instance_type: Such as `ml.m5.2xlarge`.
            volume_gib: Of the disk that outlives stops.
            subnet: A private one.
            security_group: The instance's only one.
            role: What its user acts as.
            key: Of the disk.
            root_access: Whether its user may become root.
            on_start: The script that runs, as root, at every start.
            git: What is cloned beside the user's notebooks.
        """
        super().__init__(scope, construct_id)
        self.name = name
        scripts = sagemaker.CfnNotebookInstanceLifecycleConfig(
            self,
            "Scripts",
            on_start=[
                sagemaker.CfnNotebookInstanceLifecycleConfig.NotebookInstanceLifecycleHookProperty(
                    content=Fn.base64(on_start)
                )
            ],
        )
        sagemaker.CfnNotebookInstance(
            self,
            "Instance",
            notebook_instance_name=name,
            instance_type=instance_type,
            platform_identifier=PLATFORM,
            volume_size_in_gb=volume_gib,
            subnet_id=subnet.subnet_id,
            security_group_ids=[security_group.security_group_id],
            role_arn=role.role_arn,
            kms_key_id=key.key_arn,
            direct_internet_access="Disabled",
            root_access="Enabled" if root_access else "Disabled",
            instance_metadata_service_configuration=(
                sagemaker.CfnNotebookInstance.InstanceMetadataServiceConfigurationProperty(
                    minimum_instance_metadata_service_version="2"
                )
            ),
            lifecycle_config_name=scripts.attr_notebook_instance_lifecycle_config_name,
            additional_code_repositories=[self._clone(git)] if git else None,
        )

    def _clone(self, git: GitRepository) -> str:
        repository = sagemaker.CfnCodeRepository(
            self,
            "Git",
            git_config=sagemaker.CfnCodeRepository.GitConfigProperty(
                repository_url=git.url, branch=git.branch, secret_arn=git.secret_arn
            ),
        )
        return repository.attr_code_repository_name
