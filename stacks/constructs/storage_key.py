"""The key that encrypts the data at rest."""

from __future__ import annotations

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from stacks.constructs.key_use import USE_OF_KEY


class StorageKey(Construct):
    """A rotated key that outlives the stack, as the data does that it opens.

    Its policy leaves the account's roles to their own policies. SageMaker, EFS and FSx use it in
    the name of such a role, or by a grant that they make with that role's permission; only FSx's
    way into the bucket needs a statement.
    """

    def __init__(self, scope: Construct, construct_id: str, *, lustre_uses_bucket: bool) -> None:
        """Build it.

        Args:
            lustre_uses_bucket: Whether an FSx for Lustre file system is linked to a bucket under
                this key.
        """
        super().__init__(scope, construct_id)
        self.key: kms.IKey = kms.Key(
            self,
            "Key",
            description="Encrypts the training bucket and the file systems",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        if lustre_uses_bucket:
            self._let_lustre_use_the_bucket()

    def _let_lustre_use_the_bucket(self) -> None:
        """Let FSx for Lustre import from and export to a bucket encrypted with this key.

        FSx makes one service-linked role for each file system, named after the file system's id,
        so the statement cannot name it as a principal, and no grant can be made to it. The
        bucket's ARN is not in the conditions since the bucket refers to this key.
        https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html
        """
        account = Aws.ACCOUNT_ID
        role = (
            f"arn:{Aws.PARTITION}:iam::{account}:role/aws-service-role/"
            "s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_*"
        )
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.AnyPrincipal()],
                actions=list(USE_OF_KEY),
                resources=["*"],  # In a key's policy: this key.
                conditions={
                    "StringEquals": {
                        "kms:CallerAccount": account,
                        "kms:ViaService": f"s3.{Aws.REGION}.{Aws.URL_SUFFIX}",
                    },
                    "ArnLike": {"aws:PrincipalArn": role},
                },
            )
        )
