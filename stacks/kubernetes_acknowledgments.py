"""What cdk-nag finds in KubernetesStack and we keep as it is, each with the reason."""

from __future__ import annotations

from stacks.accepted_finding import AcceptedFinding, wildcards

OF_KUBERNETES: tuple[AcceptedFinding, ...] = (
    AcceptedFinding(
        path="KubernetesStack/ControlPlane/Cluster",
        rule="AwsSolutions-EKS1",
        reason="Whoever sets eks_api_cidrs launches from there; nobody else reaches the API.",
    ),
    *wildcards(
        "KubernetesStack/ControlPlane/Policy/Resource",
        ("*", "Lists of EC2 and Elastic Load Balancing know no resource."),
        ("arn:…:ec2:…:instance/*", "EC2 names instances; a condition names the tags."),
        ("arn:…:elasticloadbalancing:…:listener/net/*", "Kubernetes names load balancers."),
        ("arn:…:elasticloadbalancing:…:loadbalancer/net/*", "Kubernetes names load balancers."),
        ("arn:…:elasticloadbalancing:…:targetgroup/*", "Kubernetes names their targets."),
    ),
    *wildcards(
        "KubernetesStack/Nodes/Policy/Resource",
        ("*", "Lists of EC2 and ecr:GetAuthorizationToken know no resource."),
        (
            "arn:…:ecr:…:*:repository/*",
            "EKS's own images are in an account that differs by region; only to pull them.",
        ),
    ),
    *wildcards(
        "KubernetesStack/Addons/VpcCniPods/Policy/Resource",
        ("*", "EC2 lists whole accounts: its Describe actions know no resource."),
        ("arn:…:ec2:…:instance/*", "EC2 names instances; a condition names the project."),
        (
            "arn:…:ec2:…:network-interface/*",
            "EC2 names them; a condition names the VPC, or that of the subnet of a new one.",
        ),
        ("arn:…:ec2:…:*:security-group/*", "Those of the nodes; a condition names the VPC."),
        ("arn:…:ec2:…:*:subnet/*", "Those of the nodes; a condition names the VPC."),
    ),
    *wildcards(
        "KubernetesStack/Addons/AwsEfsCsiDriverPods/Policy/Resource",
        ("*", "ec2:DescribeAvailabilityZones knows no resource."),
    ),
    *wildcards(
        "KubernetesStack/Addons/AwsFsxCsiDriverPods/Policy/Resource",
        ("*", "FSx knows no resource for its lists."),
    ),
    *wildcards(
        "KubernetesStack/Autoscaler/Policy/Resource",
        ("*", "Lists of groups, types and templates know no resource."),
        (
            "arn:…:autoscaling:…:autoScalingGroup:*:autoScalingGroupName/eks-*",
            "EKS names the groups of the nodes; a condition names the cluster.",
        ),
        ("arn:…:eks:…:nodegroup/…/*", "The cluster's node groups, which EKS names."),
    ),
    *wildcards(
        "KubernetesStack/Jobs/Policy/Resource",
        ("*", "FSx knows no resource for its lists."),
        ("arn:…:fsx:…:task/*", "FSx names the tasks."),
    ),
    AcceptedFinding(
        path="KubernetesStack/Jobs/Policy/Resource",
        rule="AwsSolutions-IAM5[Resource::…/*]",
        reason="The objects of the bucket, or of its prefix, whatever their names.",
    ),
)
