"""Where one training image lives."""

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct


class ImageRepository(Construct):
    """A repository whose tags never change and whose images are scanned; it outlives the stack.

    A model is explained by the image that trained it, so images stay when the stack goes.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        key: kms.IKey,
        kept_images: int,
        untagged_days: int,
        pull_accounts: Sequence[str],
    ) -> None:
        """Build it.

        Args:
            key: Encrypts the layers.
            kept_images: The newest, whatever their tags.
            untagged_days: After which an image without a tag goes.
            pull_accounts: Ids of other accounts that may pull.
        """
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
                    max_image_age=Duration.days(untagged_days),
                ),
                ecr.LifecycleRule(
                    description="The oldest images",
                    tag_status=ecr.TagStatus.ANY,
                    max_image_count=kept_images,
                ),
            ],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        for account in pull_accounts:
            # The other account's own policies say which of its roles may; ECR decrypts for them.
            self.repository.grant_pull(iam.AccountPrincipal(account))
