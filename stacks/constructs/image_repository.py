"""Where one training image lives."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from constructs import Construct

UNTAGGED_DAYS = 14
KEPT_IMAGES = 100


class ImageRepository(Construct):
    """A repository whose tags never change and whose images are scanned; it outlives the stack.

    A model is explained by the image that trained it, so images stay when the stack goes.
    """

    def __init__(self, scope: Construct, construct_id: str, *, key: kms.IKey) -> None:
        super().__init__(scope, construct_id)
        self.repository = ecr.Repository(
            self,
            "Repository",
            image_scan_on_push=True,
            image_tag_mutability=ecr.TagMutability.IMMUTABLE,
            encryption=ecr.RepositoryEncryption.KMS,
            encryption_key=key,
            lifecycle_rules=[
                ecr.LifecycleRule(
                    description="Layers that no tag holds",
                    tag_status=ecr.TagStatus.UNTAGGED,
                    max_image_age=Duration.days(UNTAGGED_DAYS),
                ),
                ecr.LifecycleRule(
                    description="The oldest images",
                    tag_status=ecr.TagStatus.ANY,
                    max_image_count=KEPT_IMAGES,
                ),
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )
