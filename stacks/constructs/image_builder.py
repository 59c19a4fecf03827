"""Builds images in AWS, for people without a container engine."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.log_key import let_cloudwatch_logs_use
from stacks.constructs.registry_access import may_push, may_sign_in
from training.images.base_images import ACCOUNTS, AMAZONS_IMAGES
from training.outputs import BUILD_SOURCES_KEY

BUILD_SPEC = "docker/buildspec.yml"
BUILD_HOURS = 4
"""The GPU image, with Horovod's kernels compiled, is the longest."""
_SOURCE_DAYS = 7
# CloudFormation deletes no bucket that is not empty; the log says how an image was made.
_KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
_LOG_RETENTION = logs.RetentionDays.ONE_YEAR


class ImageBuilder(Construct):
    """A project that builds the Dockerfiles of a source archive and pushes the image.

    Attributes:
        project: Of CodeBuild. It knows no secret: its role's own credentials sign in to ECR.
        bucket: Takes the archive, under `BUILD_SOURCES_KEY`; each build names the version it reads.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        key: kms.Key,
        repositories: Sequence[ecr.IRepository],
    ) -> None:
        """Build it.

        Args:
            key: Encrypts archives and logs.
            repositories: Where it may push.
        """
        super().__init__(scope, construct_id)
        self._key = key
        let_cloudwatch_logs_use(key)
        self.bucket = self._make_bucket()
        self.log_group = logs.LogGroup(
            self,
            "Log",
            encryption_key=key,
            retention=_LOG_RETENTION,
            removal_policy=_KEPT,
        )
        role = iam.Role(
            self,
            "Role",
            description="Builds and pushes the images of distributed Mask R-CNN",
            assumed_by=iam.ServicePrincipal(
                "codebuild.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
        )
        iam.ManagedPolicy(
            self,
            "Build",
            description="Reads an archive of sources, writes its log, pulls bases, pushes images",
            roles=[role],
            statements=[*self._may_build(), may_sign_in(), *_may_move_images(repositories)],
        )
        self.project = self._make_project(role)

    def may_start(self) -> list[iam.PolicyStatement]:
        """Return what whoever starts builds, and watches them, needs."""
        return [
            iam.PolicyStatement(
                actions=["s3:PutObject"], resources=[self.bucket.arn_for_objects(BUILD_SOURCES_KEY)]
            ),
            iam.PolicyStatement(
                actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[self._key.key_arn]
            ),
            iam.PolicyStatement(
                actions=[
                    "codebuild:BatchGetBuilds",
                    "codebuild:StartBuild",
                    "codebuild:StopBuild",
                ],
                resources=[self.project.project_arn],
            ),
            iam.PolicyStatement(
                actions=["logs:GetLogEvents"], resources=[self.log_group.log_group_arn]
            ),
        ]

    def _make_bucket(self) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Sources",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self._key,
            bucket_key_enabled=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="expire",
                    expiration=Duration.days(_SOURCE_DAYS),
                    noncurrent_version_expiration=Duration.days(1),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
            removal_policy=_KEPT,
        )
        assert bucket.policy is not None
        bucket.policy.apply_removal_policy(_KEPT)
        return bucket

    def _may_build(self) -> list[iam.PolicyStatement]:
        return [
            iam.PolicyStatement(
                actions=["s3:GetObject", "s3:GetObjectVersion"],
                resources=[self.bucket.arn_for_objects(BUILD_SOURCES_KEY)],
            ),
            iam.PolicyStatement(actions=["kms:Decrypt"], resources=[self._key.key_arn]),
            iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[self.log_group.log_group_arn],
            ),
        ]

    def _make_project(self, role: iam.Role) -> codebuild.Project:
        return codebuild.Project(
            self,
            "Project",
            description="Builds the training images of distributed Mask R-CNN",
            # Without updates: the construct would give the role an inline policy of its own.
            role=role.without_policy_updates(),
            source=codebuild.Source.s3(bucket=self.bucket, path=BUILD_SOURCES_KEY),
            # What is done is part of the sources, as the Dockerfiles are.
            build_spec=codebuild.BuildSpec.from_source_filename(BUILD_SPEC),
            environment=codebuild.BuildEnvironment(
                build_image=codebuild.LinuxBuildImage.STANDARD_7_0,
                compute_type=codebuild.ComputeType.LARGE,
                privileged=True,  # Docker runs inside.
            ),
            encryption_key=self._key,
            grant_report_group_permissions=False,
            logging=codebuild.LoggingOptions(
                cloud_watch=codebuild.CloudWatchLoggingOptions(log_group=self.log_group)
            ),
            queued_timeout=Duration.hours(1),
            timeout=Duration.hours(BUILD_HOURS),
        )


def _may_move_images(repositories: Sequence[ecr.IRepository]) -> list[iam.PolicyStatement]:
    """Let it push to our repositories, and pull the bases that Amazon has in accounts of its own.

    Which account that is follows from the region, and the region is known at the deploy.
    """
    bases = [
        f"arn:{Aws.PARTITION}:ecr:{Aws.REGION}:{account}:repository/{name}"
        for account in sorted(set(ACCOUNTS.values()))
        for name in sorted({image.repository for image in AMAZONS_IMAGES})
    ]
    return [
        may_push(repositories),
        iam.PolicyStatement(
            actions=[
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            resources=bases,
        ),
    ]
