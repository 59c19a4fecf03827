"""The way from the private subnets to S3 that costs nothing."""

from collections.abc import Mapping

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

ON_ANY_BUCKET = (
    "s3:GetBucketLocation",
    "s3:GetObject",
    "s3:GetObjectAttributes",
    "s3:GetObjectTagging",
    "s3:GetObjectVersion",
    "s3:ListAllMyBuckets",
    "s3:ListBucket",
    "s3:ListBucketVersions",
)
"""Layers of images, packages and public data sets are in others' buckets.

Whoever asks: public data sets and the packages of Amazon Linux are read without signing, and the
layers of an image with a URL that a principal of AWS has signed for ECR.
"""

ON_OWN_BUCKETS = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:DeleteObjectTagging",
    "s3:DeleteObjectVersion",
    "s3:ListBucketMultipartUploads",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
    "s3:PutObjectTagging",
)
"""On buckets of this account alone, as one of its principals: no job carries data out through S3,
neither to a bucket of others nor with credentials of others that somebody brought along."""


class S3Endpoint(Construct):
    """A gateway endpoint on the route tables of the VPC's private subnets."""

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc) -> None:
        super().__init__(scope, construct_id)
        endpoint = ec2.GatewayVpcEndpoint(
            self,
            "Endpoint",
            vpc=vpc,
            service=ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[ec2.SubnetSelection(subnets=vpc.private_subnets)],
        )
        # An endpoint's policy only narrows what the caller's own policies allow.
        endpoint.add_to_policy(_allow(ON_ANY_BUCKET))
        own_account = {
            "StringEquals": {
                "aws:PrincipalAccount": Aws.ACCOUNT_ID,
                "aws:ResourceAccount": Aws.ACCOUNT_ID,
            }
        }
        endpoint.add_to_policy(_allow(ON_OWN_BUCKETS, conditions=own_account))


def _allow(
    actions: tuple[str, ...], conditions: Mapping[str, object] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()],
        actions=list(actions),
        resources=["*"],
        conditions=conditions,
    )
