"""What AWS lets the control plane, the nodes and the network plugin of the EKS cluster do.

AWS has managed policies for them (AmazonEKSClusterPolicy, AmazonEKSWorkerNodePolicy,
AmazonEC2ContainerRegistryPullOnly, AmazonEKS_CNI_Policy), which are not attached: they let each of
them at every instance, disk, route, group and network interface of the account.

https://docs.aws.amazon.com/eks/latest/userguide/security-iam-awsmanpol.html
"""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from training.outputs import PROJECT_TAG


def arn(service: str, resource: str) -> str:
    """Return the ARN of something in this account and region."""
    return f"arn:{Aws.PARTITION}:{service}:{Aws.REGION}:{Aws.ACCOUNT_ID}:{resource}"


def may_run_control_plane(*, key_arn: str) -> list[iam.PolicyStatement]:
    """Return what EKS needs of the cluster's role to manage nodes.

    https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html
    """
    return [
        iam.PolicyStatement(
            actions=["ec2:CreateTags"],
            resources=[arn("ec2", "instance/*")],
            conditions={
                "ForAllValues:StringLike": {"aws:TagKeys": "kubernetes.io/cluster/*"},
                # Else a request without a tag key would fit.
                "Null": {"aws:TagKeys": "false"},
            },
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:DescribeAccountAttributes",
                "ec2:DescribeAddresses",
                "ec2:DescribeAvailabilityZones",
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeInstanceTopology",
                "ec2:DescribeInstances",
                "ec2:DescribeInternetGateways",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeRouteTables",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ],
            resources=["*"],  # EC2 lists whole accounts: there is no finer resource.
        ),
        iam.PolicyStatement(actions=["kms:DescribeKey"], resources=[key_arn]),
    ]


def may_balance_load(*, security_group_id: str) -> list[iam.PolicyStatement]:
    """Return what makes a network load balancer for a Service of that type, and no other kind.

    The cloud provider inside the control plane does it, with the cluster's role. It opens the
    nodes to the balancer's clients in the one security group that has the cluster's tag.

    https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_awselasticloadbalancingv2.html
    """
    balancer = arn("elasticloadbalancing", "loadbalancer/net/*")
    listener = arn("elasticloadbalancing", "listener/net/*")
    targets = arn("elasticloadbalancing", "targetgroup/*")
    return [
        iam.PolicyStatement(
            actions=[
                "elasticloadbalancing:AddTags",
                "elasticloadbalancing:CreateListener",
                "elasticloadbalancing:CreateLoadBalancer",
                "elasticloadbalancing:CreateTargetGroup",
                "elasticloadbalancing:DeleteListener",
                "elasticloadbalancing:DeleteLoadBalancer",
                "elasticloadbalancing:DeleteTargetGroup",
                "elasticloadbalancing:DeregisterTargets",
                "elasticloadbalancing:ModifyListener",
                "elasticloadbalancing:ModifyLoadBalancerAttributes",
                "elasticloadbalancing:ModifyTargetGroup",
                "elasticloadbalancing:ModifyTargetGroupAttributes",
                "elasticloadbalancing:RegisterTargets",
            ],
            # Kubernetes names them.
            resources=[balancer, listener, targets],
        ),
        iam.PolicyStatement(
            actions=[
                "elasticloadbalancing:DescribeListeners",
                "elasticloadbalancing:DescribeLoadBalancerAttributes",
                "elasticloadbalancing:DescribeLoadBalancers",
                "elasticloadbalancing:DescribeTargetGroupAttributes",
                "elasticloadbalancing:DescribeTargetGroups",
                "elasticloadbalancing:DescribeTargetHealth",
            ],
            resources=["*"],  # Elastic Load Balancing knows no resource for its lists.
        ),
        iam.PolicyStatement(
            actions=["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"],
            resources=[arn("ec2", f"security-group/{security_group_id}")],
        ),
        iam.PolicyStatement(
            actions=["iam:CreateServiceLinkedRole"],
            resources=[
                f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
                "elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing"
            ],
            conditions={
                "StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}
            },
        ),
    ]


def may_be_node(*, cluster_name: str) -> list[iam.PolicyStatement]:
    """Return what a node's kubelet and its agent of pod identity do, and the pulling of images.

    https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
    """
    return [
        iam.PolicyStatement(
            actions=[
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeInstances",
                "ec2:DescribeRouteTables",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVolumes",
                "ec2:DescribeVolumesModifications",
                "ec2:DescribeVpcs",
                "ecr:GetAuthorizationToken",
            ],
            # EC2 lists whole accounts, and a token is good for all that its owner may do.
            resources=["*"],
        ),
        iam.PolicyStatement(
            actions=["eks:DescribeCluster", "eks-auth:AssumeRoleForPodIdentity"],
            resources=[arn("eks", f"cluster/{cluster_name}")],
        ),
        iam.PolicyStatement(
            actions=[
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            # EKS's own are in an account of AWS's that differs from region to region:
            # https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
            resources=[f"arn:{Aws.PARTITION}:ecr:{Aws.REGION}:*:repository/*"],
        ),
    ]


def may_give_addresses(*, vpc: ec2.IVpc, project: str) -> list[iam.PolicyStatement]:
    """Return what the VPC CNI plugin does: it gives pods addresses of the nodes' subnets.

    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKS_CNI_Policy.html
    Which action knows the VPC of which resource:
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
    """
    interfaces = arn("ec2", "network-interface/*")
    region = f"arn:{Aws.PARTITION}:ec2:{Aws.REGION}"
    # A shared VPC and its subnets belong to another account; their ids are unique among all.
    in_vpc = {"ArnLike": {"ec2:Vpc": f"{region}:*:vpc/{vpc.vpc_id}"}}
    return [
        iam.PolicyStatement(
            actions=["ec2:CreateNetworkInterface", "ec2:CreateTags"],
            # One that is not there yet is in no VPC: the subnet that it is to be in decides.
            resources=[interfaces],
        ),
        iam.PolicyStatement(
            actions=["ec2:CreateNetworkInterface"],
            resources=[f"{region}:*:security-group/*", f"{region}:*:subnet/*"],
            conditions=in_vpc,
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:AssignPrivateIpAddresses",
                "ec2:AttachNetworkInterface",
                "ec2:DeleteNetworkInterface",
                "ec2:DetachNetworkInterface",
                "ec2:ModifyNetworkInterfaceAttribute",
                "ec2:UnassignPrivateIpAddresses",
            ],
            resources=[interfaces],
            conditions=in_vpc,
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:AttachNetworkInterface",
                "ec2:DetachNetworkInterface",
                "ec2:ModifyNetworkInterfaceAttribute",
            ],
            resources=[arn("ec2", "instance/*")],
            conditions={"StringEquals": {f"aws:ResourceTag/{PROJECT_TAG}": project}},
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeInstances",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSubnets",
                "ec2:DescribeTags",
            ],
            resources=["*"],  # EC2 lists whole accounts: there is no finer resource.
        ),
    ]


def may_scale(*, cluster_name: str) -> list[iam.PolicyStatement]:
    """Return what the cluster autoscaler does: it sizes the groups of this cluster's nodes.

    EKS gives their auto-scaling groups the tag that the condition names.
    https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
    """
    own = {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"}}
    return [
        iam.PolicyStatement(
            actions=[
                "autoscaling:SetDesiredCapacity",
                "autoscaling:TerminateInstanceInAutoScalingGroup",
            ],
            # EKS names them.
            resources=[
                arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/eks-*"),
            ],
            conditions=own,
        ),
        iam.PolicyStatement(
            actions=["eks:DescribeNodegroup"],
            resources=[arn("eks", f"nodegroup/{cluster_name}/*")],
        ),
        iam.PolicyStatement(
            actions=[
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeAutoScalingInstances",
                "autoscaling:DescribeLaunchConfigurations",
                "autoscaling:DescribeScalingActivities",
                "autoscaling:DescribeTags",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplateVersions",
                "ec2:GetInstanceTypesFromInstanceRequirements",
            ],
            resources=["*"],  # Neither service knows a resource for its lists.
        ),
    ]
