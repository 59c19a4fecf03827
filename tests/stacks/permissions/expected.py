"""What no code calls and roles may do nevertheless, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

_JOBS = "platforms/sagemaker launches, watches and stops jobs"
_LOGS = "platforms/sagemaker shows the lines of a job"
_DEPLOYER = "`preflight --stacks` calls it, as whoever deploys the stacks"
_PUSH = "images pushes what it has built; Docker's client calls it"

AWAITED: Mapping[str, str] = {
    "ecr:DescribeImages": "images looks whether a tag is there already: tags never change",
    "ecr:GetAuthorizationToken": "images signs Docker in",
    "iam:PassRole": "platforms/sagemaker hands the training role to a job",
    "logs:DescribeLogStreams": _LOGS,
    "logs:FilterLogEvents": _LOGS,
    "logs:GetLogEvents": _LOGS,
    "pricing:GetProducts": "preflight says what a job would cost",
    "sagemaker:AddTags": "a job gets its cost allocation tags when it is made",
    "sagemaker:CreateTrainingJob": _JOBS,
    "sagemaker:DescribeTrainingJob": _JOBS,
    "sagemaker:ListTrainingJobs": _JOBS,
    "sagemaker:StopTrainingJob": _JOBS,
    "servicequotas:ListServiceQuotas": "preflight says whether the quota is enough",
}
"""What parts of the launcher that are planned will call. An action that is called by now has no
place here."""

WITHHELD: Mapping[str, str] = {
    "cloudformation:GetTemplateSummary": _DEPLOYER,
    "cloudformation:ListStackResources": _DEPLOYER,
    "s3:DeleteObject": "`stage --delete` is told that it may not: a notebook loses no data; "
    "who may delete gives the role a policy of their own",
}
"""What code calls and roles may not do all the same."""

DOCKER: Mapping[str, str] = {
    # https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html
    "ecr:BatchCheckLayerAvailability": _PUSH,
    "ecr:BatchGetImage": _PUSH,
    "ecr:CompleteLayerUpload": _PUSH,
    "ecr:GetDownloadUrlForLayer": "a build begins with the layers of the image before",
    "ecr:InitiateLayerUpload": _PUSH,
    "ecr:PutImage": _PUSH,
    "ecr:UploadLayerPart": _PUSH,
}
"""What Docker's client asks a registry for: no call of boto3 will ever name it."""

CHANNELS: Mapping[str, str] = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol.html
    "elasticfilesystem:DescribeFileSystems": "SageMaker looks up the file systems of channels",
    "elasticfilesystem:DescribeMountTargets": "SageMaker looks up the file systems of channels",
}
"""What AWS says is needed for channels on EFS, not of whom: launcher and job have it."""

NOTEBOOK: Mapping[str, str] = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
    "logs:CreateLogGroup": "SageMaker keeps what the instance's scripts print",
    "logs:CreateLogStream": "SageMaker keeps what the instance's scripts print",
    "logs:PutLogEvents": "SageMaker keeps what the instance's scripts print",
    "secretsmanager:GetSecretValue": "SageMaker signs in to the Git repository",
    **CHANNELS,
}
"""What SageMaker does for a notebook instance in its role's name."""

JOB: Mapping[str, str] = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html, CreateTrainingJob
    "cloudwatch:PutMetricData": "SageMaker records the metrics that it finds in the lines",
    "ec2:CreateNetworkInterface": "the job runs in the VPC",
    "ec2:CreateNetworkInterfacePermission": "the job runs in the VPC",
    "ec2:DeleteNetworkInterface": "the job runs in the VPC",
    "ec2:DeleteNetworkInterfacePermission": "the job runs in the VPC",
    "ec2:DescribeDhcpOptions": "the job runs in the VPC",
    "ec2:DescribeNetworkInterfaces": "the job runs in the VPC",
    "ec2:DescribeSecurityGroups": "the job runs in the VPC",
    "ec2:DescribeSubnets": "the job runs in the VPC",
    "ec2:DescribeVpcs": "the job runs in the VPC",
    "ecr:BatchCheckLayerAvailability": "SageMaker pulls the job's image",
    "ecr:BatchGetImage": "SageMaker pulls the job's image",
    "ecr:GetAuthorizationToken": "SageMaker pulls the job's image",
    "ecr:GetDownloadUrlForLayer": "SageMaker pulls the job's image",
    "kms:CreateGrant": "the job's disks are encrypted with our key",
    "logs:CreateLogGroup": "SageMaker keeps what the job prints",
    "logs:CreateLogStream": "SageMaker keeps what the job prints",
    "logs:DescribeLogStreams": "SageMaker keeps what the job prints",
    "logs:PutLogEvents": "SageMaker keeps what the job prints",
    **CHANNELS,
    "fsx:DescribeFileSystems": "SageMaker looks up the file systems of channels",
}
"""What SageMaker does for a training job in its role's name."""

IN_A_JOB = ("s3",)
"""Services that our code calls where it runs as a job: copies between S3 and file systems."""

WITHOUT_RESOURCE: Mapping[str, str] = {
    "cloudwatch:PutMetricData": "the resource that the data names, a dataset, is not a metric; "
    "metrics are held to their namespace by a condition: "
    "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/iam-cw-condition-keys-namespace.html",
}
"""Actions whose resource is `*` although IAM knows one."""
