"""RegistryStack: where training images live."""

from __future__ import annotations

from typing import Any

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from constructs import Construct

from stacks.constructs.image_repository import ImageRepository
from stacks.contract import write_outputs
from stacks.settings import Settings
from training.outputs import RegistryOutputs


class RegistryStack(Stack):
    """One repository for each algorithm's image."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, **stack_options: Any
    ) -> None:
        super().__init__(scope, construct_id, **stack_options)
        self._settings = settings.registry
        self.repositories: list[ecr.IRepository] = []
        self._key = kms.Key(
            self,
            "Key",
            description="Encrypts the training images",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        write_outputs(
            self,
            RegistryOutputs(
                horovod_repository_uri=self._repository_uri("Horovod"),
                tensorpack_repository_uri=self._repository_uri("Tensorpack"),
                aws_samples_repository_uri=self._repository_uri("AwsSamples"),
                tf2_smddp_repository_uri=self._repository_uri("Tf2Smddp"),
            ),
        )

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
