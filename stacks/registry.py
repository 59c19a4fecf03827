"""RegistryStack: where training images live."""

from __future__ import annotations

from typing import Any

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from constructs import Construct

from stacks.constructs.image_builder import ImageBuilder
from stacks.constructs.image_repository import ImageRepository
from stacks.contract import write_outputs
from stacks.settings import Settings
from training.outputs import RegistryOutputs


class RegistryStack(Stack):
    """One repository for each algorithm's image, and what builds images in AWS.

    Attributes:
        repositories: In the order of the outputs.
        builder: None where it is not wanted.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, **stack_options: Any
    ) -> None:
        super().__init__(scope, construct_id, **stack_options)
        self._settings = settings.registry
        self.repositories: list[ecr.IRepository] = []
        self._key = kms.Key(
            self,
            "Key",
            description="Encrypts the training images, their sources and the logs of their builds",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        uris = {
            "horovod_repository_uri": self._repository_uri("Horovod"),
            "tensorpack_repository_uri": self._repository_uri("Tensorpack"),
            "aws_samples_repository_uri": self._repository_uri("AwsSamples"),
            "tf2_smddp_repository_uri": self._repository_uri("Tf2Smddp"),
        }
        self.builder: ImageBuilder | None = None
        if self._settings.builder == "create":
            self.builder = ImageBuilder(
                self, "Builder", key=self._key, repositories=self.repositories
            )
        write_outputs(self, RegistryOutputs(**uris, **self._builder_outputs()))

    def _builder_outputs(self) -> dict[str, str]:
        if self.builder is None:
            return {}
        return {
            "builder_project": self.builder.project.project_name,
            "builder_bucket": self.builder.bucket.bucket_name,
        }

    def _repository_uri(self, image: str) -> str:
        repository = ImageRepository(
            self,
            image,
            key=self._key,
            kept_images=self._settings.kept_images,
            untagged_days=self._settings.untagged_days,
            pull_accounts=self._settings.pull_accounts,
        ).repository
        self.repositories.append(repository)
        return repository.repository_uri
