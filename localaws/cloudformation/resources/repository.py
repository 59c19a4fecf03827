"""AWS::ECR::Repository."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, camel, only
from localaws.cloudformation.resources.network import is_true


class Repository(Resource):
    """A repository of container images."""

    TYPE = "AWS::ECR::Repository"
    NAME_PROPERTY = "RepositoryName"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        settings = (
            "ImageTagMutability",
            "ImageTagMutabilityExclusionFilters",
            "ImageScanningConfiguration",
            "EncryptionConfiguration",
        )
        repository = aws.client("ecr").create_repository(
            # ECR's names are lower case, and generated ones are not.
            repositoryName=name.lower(),
            tags=properties.get("Tags", []),
            **camel(only(properties, settings)),
        )["repository"]
        return cls(
            repository["repositoryName"],
            Arn=repository["repositoryArn"],
            RepositoryUri=repository["repositoryUri"],
            empties=is_true(properties.get("EmptyOnDelete", False)),
        )

    def complete(self, aws: Aws, properties: Properties) -> None:
        self._set_policies(aws.client("ecr"), {}, properties)

    def _set_policies(self, ecr: Any, old: Properties, new: Properties) -> None:
        name = self.physical_resource_id
        if "LifecyclePolicy" in new:
            text = new["LifecyclePolicy"]["LifecyclePolicyText"]
            ecr.put_lifecycle_policy(repositoryName=name, lifecyclePolicyText=text)
        elif "LifecyclePolicy" in old:
            ecr.delete_lifecycle_policy(repositoryName=name)
        if "RepositoryPolicyText" in new:
            policy = json.dumps(new["RepositoryPolicyText"])
            ecr.set_repository_policy(repositoryName=name, policyText=policy)
        elif "RepositoryPolicyText" in old:
            ecr.delete_repository_policy(repositoryName=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        ecr, name = aws.client("ecr"), self.physical_resource_id
        ecr.put_image_tag_mutability(
            repositoryName=name,
            imageTagMutability=new.get("ImageTagMutability", "MUTABLE"),
            **camel(only(new, ("ImageTagMutabilityExclusionFilters",))),
        )
        scanning = camel(new.get("ImageScanningConfiguration", {"ScanOnPush": False}))
        ecr.put_image_scanning_configuration(
            repositoryName=name, imageScanningConfiguration=scanning
        )
        self._set_policies(ecr, old, new)
        self.attributes["empties"] = is_true(new.get("EmptyOnDelete", False))
        gone, wanted = tags.difference(old, new)
        if gone:
            ecr.untag_resource(resourceArn=self.attributes["Arn"], tagKeys=gone)
        if wanted:
            ecr.tag_resource(resourceArn=self.attributes["Arn"], tags=wanted)

    def read(self, aws: Aws) -> Properties:
        ecr, name = aws.client("ecr"), self.physical_resource_id
        (repository,) = ecr.describe_repositories(repositoryNames=[name])["repositories"]
        encryption = repository["encryptionConfiguration"]
        return {
            "ImageTagMutability": repository["imageTagMutability"],
            "ImageScanningConfiguration": {
                "ScanOnPush": repository["imageScanningConfiguration"]["scanOnPush"]
            },
            "EncryptionConfiguration": {
                "EncryptionType": encryption["encryptionType"],
                "KmsKey": encryption.get("kmsKey"),
            },
            "Tags": ecr.list_tags_for_resource(resourceArn=repository["repositoryArn"])["tags"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("ecr").delete_repository(
            repositoryName=self.physical_resource_id, force=self.attributes["empties"]
        )
