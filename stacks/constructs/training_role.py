"""What a SageMaker training job may do."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.constructs.data_access import may_read_and_write
from stacks.constructs.file_system_access import may_be_channels, may_move_data
from stacks.constructs.registry_access import may_pull_images_of, may_sign_in
from stacks.constructs.sagemaker_principal import sagemaker_of_this_account

METRICS_NAMESPACE = "/aws/sagemaker/TrainingJobs"
"""https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"""


class TrainingRole(Construct):
    """The execution role of training jobs: data, images, log lines, metrics, the way into the VPC.

    Attributes:
        role: Its ARN is what a launch passes to SageMaker.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        key: kms.IKey,
        vpc: ec2.IVpc,
        shared: efs.IFileSystem,
        lustre_id: str | None,
        project: str,
        prefix: str | None = None,
    ) -> None:
        """Build it.

        Args:
            bucket: Of data, checkpoints and models.
            key: Of the jobs' own disks, and of what they leave on S3.
            vpc: Where jobs run.
            shared: EFS, whose folders may be channels.
            lustre_id: Of the FSx for Lustre whose folders may be, too; None where there is none.
            project: Whose images jobs may pull: the value of the tag on their repositories.
            prefix: What of the bucket jobs may use; None is all of it.
        """
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            description="SageMaker training jobs of distributed Mask R-CNN",
            assumed_by=sagemaker_of_this_account(only="training-job"),
        )
        iam.ManagedPolicy(
            self,
            "Data",
            description="Reads and writes the training bucket",
            roles=[self.role],
            statements=[*may_read_and_write(bucket, prefix), _own_disks(key), _results(key)],
        )
        iam.ManagedPolicy(
            self,
            "Images",
            description="Pulls the training images",
            roles=[self.role],
            statements=[may_sign_in(), may_pull_images_of(project)],
        )
        iam.ManagedPolicy(
            self,
            "Run",
            description="Log lines, metrics, file systems and network interfaces of training jobs",
            roles=[self.role],
            statements=[
                _logs(),
                _metrics(),
                *may_be_channels(shared, lustre=lustre_id is not None),
                # For a job that stages data: python -m training.data stage --on sagemaker.
                *(may_move_data(lustre_id) if lustre_id is not None else ()),
                *_network(vpc),
            ],
        )


def _own_disks(key: kms.IKey) -> iam.PolicyStatement:
    """Let SageMaker encrypt a job's volumes with the key, and nobody else by that grant.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
    """
    return iam.PolicyStatement(
        actions=["kms:CreateGrant"],
        resources=[key.key_arn],
        conditions={"Bool": {"kms:GrantIsForAWSResource": "true"}},
    )


def _results(key: kms.IKey) -> iam.PolicyStatement:
    """Let SageMaker write what a job leaves under the key, which OutputDataConfig names.

    It need not be the bucket's own. Large uploads go in parts, which takes the right to decrypt.
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html,
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html#mpuAndPermissions
    """
    return iam.PolicyStatement(
        actions=["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], resources=[key.key_arn]
    )


def _logs() -> iam.PolicyStatement:
    place = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}"
    return iam.PolicyStatement(
        actions=[
            "logs:CreateLogGroup",
            "logs:CreateLogStream",
            "logs:DescribeLogStreams",
            "logs:PutLogEvents",
        ],
        # SageMaker names the groups; their streams are below them.
        resources=[f"{place}:log-group:/aws/sagemaker/*"],
    )


def _metrics() -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=["cloudwatch:PutMetricData"],
        # CloudWatch knows no resource for it; the namespace is what it can be held to.
        resources=["*"],
        conditions={"StringEquals": {"cloudwatch:namespace": METRICS_NAMESPACE}},
    )


def _network(vpc: ec2.IVpc) -> list[iam.PolicyStatement]:
    """Let SageMaker put a job's network interfaces into this VPC and no other.

    The narrowing is that of AWS's own SageMakerStudioProjectRoleMachineLearningPolicy, statements
    AllowManageSageMakerTrainingEniOnVpc and AllowManageSageMakerEni:
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/SageMakerStudioProjectRoleMachineLearningPolicy.html
    Which action knows the VPC of which resource:
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
    """
    region = f"arn:{Aws.PARTITION}:ec2:{Aws.REGION}"
    own = f"{region}:{Aws.ACCOUNT_ID}"
    # A shared VPC and its subnets belong to another account; their ids are unique among all.
    in_vpc = {"ArnLike": {"ec2:Vpc": f"{region}:*:vpc/{vpc.vpc_id}"}}
    return [
        iam.PolicyStatement(
            actions=["ec2:CreateNetworkInterface"],
            # One that is not there yet is in no VPC: the subnet that it is to be in decides.
            resources=[f"{own}:network-interface/*"],
        ),
        iam.PolicyStatement(
            actions=["ec2:CreateNetworkInterface"],
            resources=[f"{region}:*:security-group/*", f"{region}:*:subnet/*"],
            conditions=in_vpc,
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            resources=[f"{own}:network-interface/*"],
            conditions=in_vpc,
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ],
            resources=["*"],  # EC2 lists whole accounts: there is no finer resource.
        ),
    ]
