"""The AWS services that the VPC can reach without internet, and what each is needed for.

S3 is not among them: its gateway endpoint is always there, and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

ECR_ACTIONS = (
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:CompleteLayerUpload",
    "ecr:DescribeImageScanFindings",
    "ecr:DescribeImages",
    "ecr:DescribeRepositories",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "ecr:InitiateLayerUpload",
    "ecr:ListImages",
    "ecr:ListTagsForResource",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
)
"""The API and the registry that Docker talks to authorize the same actions.

https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
"""


@dataclass(frozen=True, kw_only=True)
class EndpointService:
    """A service with an interface endpoint in PrivateLink."""

    name: str
    """PrivateLink's, without region: `sagemaker.api`."""
    reason: str
    is_needed: bool
    """Whether training on SageMaker and the notebook fail without it where there is no internet.

    `ec2` and `eks` jobs need more than these.
    """
    actions: tuple[str, ...]
    """What the endpoint lets through; the caller's own policies narrow it further."""


SERVICES = (
    EndpointService(
        name="sagemaker.api",
        reason="the launcher starts, follows and stops training jobs; an idle notebook stops",
        is_needed=True,
        actions=(
            "sagemaker:AddTags",
            "sagemaker:CreateExperiment",
            "sagemaker:CreateTrainingJob",
            "sagemaker:DescribeNotebookInstance",
            "sagemaker:DescribeTrainingJob",
            "sagemaker:DescribeTrainingPlan",
            "sagemaker:ListTags",
            "sagemaker:ListTrainingJobs",
            "sagemaker:Search",
            "sagemaker:StopNotebookInstance",
            "sagemaker:StopTrainingJob",
            "sagemaker:UpdateTrainingJob",
        ),
    ),
    EndpointService(
        name="sagemaker.runtime",
        reason="a deployed model is asked for predictions",
        is_needed=False,
        actions=(
            "sagemaker:InvokeEndpoint",
            "sagemaker:InvokeEndpointAsync",
            "sagemaker:InvokeEndpointWithResponseStream",
        ),
    ),
    EndpointService(
        name="ecr.api",
        reason="the notebook pushes images; the launcher checks that a job's image is there",
        is_needed=True,
        actions=ECR_ACTIONS,
    ),
    EndpointService(
        name="ecr.dkr",
        reason="Docker pulls and pushes the layers of images",
        is_needed=True,
        actions=ECR_ACTIONS,
    ),
    EndpointService(
        name="logs",
        reason="the launcher shows the log of a job",
        is_needed=True,
        actions=(
            "logs:CreateLogGroup",
            "logs:CreateLogStream",
            "logs:DescribeLogGroups",
            "logs:DescribeLogStreams",
            "logs:FilterLogEvents",
            "logs:GetLogEvents",
            "logs:PutLogEvents",
        ),
    ),
    EndpointService(
        name="sts",
        reason="the launcher learns in which account it is; roles are taken on",
        is_needed=True,
        actions=("sts:AssumeRole", "sts:GetCallerIdentity"),
    ),
    EndpointService(
        name="cloudformation",
        reason="the launcher reads the outputs of the stacks; nodes say that they are set up",
        is_needed=True,
        actions=(
            "cloudformation:DescribeStackEvents",
            "cloudformation:DescribeStacks",
            "cloudformation:ListStacks",
            "cloudformation:SignalResource",
        ),
    ),
    EndpointService(
        name="ec2",
        reason="the checks before a launch read subnets, routes and security groups; nodes of "
        "Kubernetes take addresses for their pods",
        is_needed=True,
        actions=(
            "ec2:AssignPrivateIpAddresses",
            "ec2:AttachNetworkInterface",
            "ec2:CreateNetworkInterface",
            "ec2:CreateTags",
            "ec2:DeleteNetworkInterface",
            "ec2:DescribeAvailabilityZones",
            "ec2:DescribeImages",
            "ec2:DescribeInstanceTypeOfferings",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeInstances",
            "ec2:DescribeLaunchTemplateVersions",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroupRules",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeTags",
            "ec2:DescribeVolumes",
            "ec2:DescribeVolumesModifications",
            "ec2:DescribeVpcEndpoints",
            "ec2:DescribeVpcs",
            "ec2:DetachNetworkInterface",
            "ec2:GetInstanceTypesFromInstanceRequirements",
            "ec2:ModifyNetworkInterfaceAttribute",
            "ec2:UnassignPrivateIpAddresses",
        ),
    ),
    EndpointService(
        name="elasticfilesystem",
        reason="the checks before a launch read the mount targets of EFS; mounting needs no API",
        is_needed=True,
        actions=(
            "elasticfilesystem:DescribeFileSystemPolicy",
            "elasticfilesystem:DescribeFileSystems",
            "elasticfilesystem:DescribeMountTargetSecurityGroups",
            "elasticfilesystem:DescribeMountTargets",
        ),
    ),
    EndpointService(
        name="fsx",
        reason="data is exported from FSx for Lustre, and the checks before a launch read it",
        is_needed=True,
        actions=(
            "fsx:CancelDataRepositoryTask",
            "fsx:CreateDataRepositoryTask",
            "fsx:DescribeDataRepositoryAssociations",
            "fsx:DescribeDataRepositoryTasks",
            "fsx:DescribeFileSystems",
        ),
    ),
    EndpointService(
        name="secretsmanager",
        reason="the notebook's Git user and token are a secret, and so are the cluster's SSH keys",
        is_needed=True,
        actions=(
            "secretsmanager:DescribeSecret",
            "secretsmanager:GetSecretValue",
            "secretsmanager:PutSecretValue",
        ),
    ),
    EndpointService(
        name="ssm",
        reason="Systems Manager gives the newest machine images, and runs commands on instances",
        is_needed=False,
        actions=(
            "ssm:CancelCommand",
            "ssm:DescribeInstanceInformation",
            "ssm:GetCommandInvocation",
            "ssm:GetParameter",
            "ssm:GetParameters",
            "ssm:ListAssociations",
            "ssm:ListCommandInvocations",
            "ssm:ListCommands",
            "ssm:ListInstanceAssociations",
            "ssm:PutComplianceItems",
            "ssm:PutInventory",
            "ssm:SendCommand",
            "ssm:UpdateInstanceAssociationStatus",
            "ssm:UpdateInstanceInformation",
        ),
    ),
    EndpointService(
        name="ssmmessages",
        reason="the agent of Systems Manager takes commands and opens sessions through it",
        is_needed=False,
        actions=(
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
        ),
    ),
    EndpointService(
        name="ec2messages",
        reason="older agents of Systems Manager take commands through it",
        is_needed=False,
        actions=(
            "ec2messages:AcknowledgeMessage",
            "ec2messages:DeleteMessage",
            "ec2messages:FailMessage",
            "ec2messages:GetEndpoint",
            "ec2messages:GetMessages",
            "ec2messages:SendReply",
        ),
    ),
    EndpointService(
        name="autoscaling",
        reason="the cluster's head and the autoscaler of Kubernetes start and end nodes",
        is_needed=False,
        actions=(
            "autoscaling:DescribeAutoScalingGroups",
            "autoscaling:DescribeAutoScalingInstances",
            "autoscaling:DescribeLaunchConfigurations",
            "autoscaling:DescribeScalingActivities",
            "autoscaling:DescribeTags",
            "autoscaling:SetDesiredCapacity",
            "autoscaling:SetInstanceHealth",
            "autoscaling:TerminateInstanceInAutoScalingGroup",
        ),
    ),
    EndpointService(
        name="events",
        reason="the cluster's head tells how jobs do, where NotificationStack is wanted",
        is_needed=False,
        actions=("events:PutEvents",),
    ),
    EndpointService(
        name="eks",
        reason="the launcher finds the API of the Kubernetes cluster, and its autoscaler what the "
        "nodes of a group will be like",
        is_needed=False,
        actions=(
            "eks:DescribeAddon",
            "eks:DescribeCluster",
            "eks:DescribeNodegroup",
            "eks:ListAddons",
            "eks:ListNodegroups",
        ),
    ),
    EndpointService(
        name="eks-auth",
        reason="pods of Kubernetes take on their roles",
        is_needed=False,
        actions=("eks-auth:AssumeRoleForPodIdentity",),
    ),
    EndpointService(
        name="monitoring",
        reason="metrics of jobs and file systems are read from CloudWatch",
        is_needed=False,
        actions=(
            "cloudwatch:GetMetricData",
            "cloudwatch:GetMetricStatistics",
            "cloudwatch:ListMetrics",
            "cloudwatch:PutMetricData",
        ),
    ),
)

BY_NAME = {service.name: service for service in SERVICES}
NEEDED = tuple(service.name for service in SERVICES if service.is_needed)
NEEDED_BY_NODES = (
    "autoscaling",
    "cloudformation",
    "ecr.api",
    "ecr.dkr",
    "logs",
    "secretsmanager",
    "ssm",
    "ssmmessages",
)
"""What the nodes of ClusterStack call, beside S3."""

NEEDED_TO_TELL = ("events",)
"""What the head calls too where NotificationStack is wanted."""

NEEDED_BY_KUBERNETES = ("autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth")
"""What nodes and pods of KubernetesStack call, beside S3: EKS's own images are in ECR.

https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
"""
