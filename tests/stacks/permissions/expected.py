"""What no code calls and roles may do nevertheless, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

_PUSH = "images pushes what it has built; Docker's client calls it"

AWAITED: Mapping[str, str] = {
    "iam:PassRole": "CreateTrainingJob hands the training role to a job: no call has that name",
    "sagemaker:AddTags": "jobs and experiments get their tags when they are made",
}
"""What no call is named after, or a part that is planned will call. An action that is called by now
has no place here."""

_DATASYNC = "who stages with DataSync needs a policy for it (docs/data.md), and is no notebook"

_CLUSTER = "who launches on ec2 has a policy for the cluster; the notebook launches on SageMaker"
_KUBERNETES = "who launches on eks has a policy for the cluster; the notebook launches on SageMaker"

WITHHELD: Mapping[str, str] = {
    "autoscaling:DescribeAutoScalingGroups": _CLUSTER,
    "autoscaling:DescribeScalingActivities": _CLUSTER,
    "autoscaling:TerminateInstanceInAutoScalingGroup": _CLUSTER,
    "datasync:CreateLocationEfs": _DATASYNC,
    "datasync:CreateLocationFsxLustre": _DATASYNC,
    "datasync:CreateLocationS3": _DATASYNC,
    "datasync:CreateTask": _DATASYNC,
    "datasync:DeleteLocation": _DATASYNC,
    "datasync:DeleteTask": _DATASYNC,
    "datasync:DescribeTask": _DATASYNC,
    "datasync:DescribeTaskExecution": _DATASYNC,
    "datasync:ListTasks": _DATASYNC,
    "datasync:StartTaskExecution": _DATASYNC,
    "ec2:DescribeCapacityReservations": _CLUSTER,
    "ec2:DescribeInstanceStatus": _CLUSTER,
    "ec2:DescribeInstanceTypes": _CLUSTER,
    "ec2:DescribeInstances": _CLUSTER,
    "ec2:DescribeLaunchTemplateVersions": _CLUSTER,
    "eks:DescribeAddon": _KUBERNETES,
    "eks:DescribeCluster": _KUBERNETES,
    "eks:DescribeNodegroup": _KUBERNETES,
    "ssm:CancelCommand": _CLUSTER,
    "ssm:DescribeDocument": _CLUSTER,
    "ssm:DescribeInstanceInformation": _CLUSTER,
    "ssm:GetCommandInvocation": _CLUSTER,
    "ssm:ListCommandInvocations": _CLUSTER,
    "ssm:ListCommands": _CLUSTER,
    "ssm:SendCommand": _CLUSTER,
    "s3:DeleteObject": "`stage --delete` is told that it may not: a notebook loses no data; "
    "who may delete gives the role a policy of their own",
    "sts:GetCallerIdentity": "everybody may: "
    "https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html",
}
"""What code calls and roles may not do all the same, or need no policy for."""

DOCKER: Mapping[str, str] = {
    # https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html
    "ecr:BatchCheckLayerAvailability": _PUSH,
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
"""What AWS says is needed for channels on EFS, not of whom: the job has it, and the launcher calls
it itself."""

NOTEBOOK: Mapping[str, str] = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
    "logs:CreateLogGroup": "SageMaker keeps what the instance's scripts print",
    "logs:CreateLogStream": "SageMaker keeps what the instance's scripts print",
    "logs:PutLogEvents": "SageMaker keeps what the instance's scripts print",
    "secretsmanager:GetSecretValue": "SageMaker signs in to the Git repository",
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
    "kms:Encrypt": "what the job leaves is encrypted with our key",
    "logs:CreateLogGroup": "SageMaker keeps what the job prints",
    "logs:CreateLogStream": "SageMaker keeps what the job prints",
    "logs:DescribeLogStreams": "SageMaker keeps what the job prints",
    "logs:PutLogEvents": "SageMaker keeps what the job prints",
    **CHANNELS,
    "fsx:DescribeFileSystems": "SageMaker looks up the file systems of channels",
    **dict.fromkeys(
        (
            "fsx:CreateDataRepositoryTask",
            "fsx:DescribeDataRepositoryAssociations",
            "fsx:DescribeDataRepositoryTasks",
        ),
        "`stage --on sagemaker` has FSx import and export",
    ),
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
