"""What cdk-nag finds and we keep as it is, each with the reason.

A finding may exist with some settings only (a public subnet, a bucket of our own). A test puts a
matrix of settings through the rules and fails on an acknowledgment that none of them needs.
"""

from __future__ import annotations

from stacks.accepted_finding import AcceptedFinding, wildcards
from stacks.kubernetes_acknowledgments import OF_KUBERNETES
from stacks.settings.network import MOST_ZONES

__all__ = ["ACCEPTED", "AcceptedFinding"]

ACCEPTED: tuple[AcceptedFinding, ...] = (
    AcceptedFinding(
        path="NetworkStack/Network/Vpc",
        rule="NIST.800.53.R5-VPCDefaultSecurityGroupClosed",
        reason="CloudFormation cannot take the rules of a default security group away, and CDK "
        "does so with a Lambda. Nothing is in that group, and it admits its members only.",
    ),
    *(
        AcceptedFinding(
            path=f"NetworkStack/Network/PublicSubnet{number}/DefaultRoute",
            rule="NIST.800.53.R5-VPCNoUnrestrictedRouteToIGW",
            reason="The way out of a NAT gateway, which is all that the public subnet holds.",
        )
        for number in range(1, MOST_ZONES + 1)
    ),
    AcceptedFinding(
        path="NetworkStack/TrainingSecurityGroup/Group/"
        "from NetworkStackTrainingSecurityGroupFDF61903:ALL TRAFFIC",
        rule="NIST.800.53.R5-EC2RestrictedCommonPorts",
        reason="The rule refuses all protocols at once from whatever source. Here the source is "
        "the group itself, and EFA passes only where a group admits all of its own traffic.",
    ),
    *(
        AcceptedFinding(
            path=f"StorageStack/Fast/{rule_id}",
            rule="NIST.800.53.R5-EC2RestrictedCommonPorts",
            reason="With fsx_efa: the servers of FSx and their clients, and nobody else, admit all "
            "of each other's traffic, as FSx wants for EFA: "
            "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
        )
        for rule_id in ("EfaAmongServersIngress", "EfaFromClientsIngress", "EfaToClientsIngress")
    ),
    AcceptedFinding(
        path="StorageStack/Data/Bucket/Resource",
        rule="NIST.800.53.R5-S3BucketReplicationEnabled",
        reason="Data sets are copies of public ones and logs can be made again; S3 keeps every "
        "object in three zones and old versions for a while. A second region doubles the price.",
    ),
    AcceptedFinding(
        path="StorageStack/Data/AccessLogs/Resource",
        rule="NIST.800.53.R5-S3BucketReplicationEnabled",
        reason="The same as for the bucket whose use these logs record.",
    ),
    AcceptedFinding(
        path="StorageStack/Data/AccessLogs/Resource",
        rule="NIST.800.53.R5-S3BucketVersioningEnabled",
        reason="S3 writes each access log once, under a name of its own, and nobody else may.",
    ),
    AcceptedFinding(
        path="StorageStack/Data/AccessLogs/Resource",
        rule="NIST.800.53.R5-S3DefaultEncryptionKMS",
        reason="S3 delivers access logs only to buckets that are encrypted with its own key: "
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html",
    ),
    AcceptedFinding(
        path="StorageStack/Shared/FileSystem/Resource",
        rule="NIST.800.53.R5-EFSInBackupPlan",
        reason="The backup policy of the file system puts it in the automatic plan of AWS Backup; "
        "the rule knows only selections of a plan in the same template.",
    ),
    *(
        AcceptedFinding(
            path="RegistryStack/Builder/Sources/Resource",
            rule=rule,
            reason="It holds what is in the clone of whoever has an image built, for a week.",
        )
        for rule in (
            "AwsSolutions-S1",
            "NIST.800.53.R5-S3BucketLoggingEnabled",
            "NIST.800.53.R5-S3BucketReplicationEnabled",
        )
    ),
    # Wildcards in the resources of roles. AWS names what comes after the last slash or colon when
    # it makes the thing, or its users do.
    *(
        AcceptedFinding(
            path=path,
            rule="AwsSolutions-IAM5[Resource::…/*]",
            reason="The objects of the bucket, or of its prefix, whatever their names.",
        )
        for path in (
            "StorageStack/DataSync/Data/Resource",
            "StorageStack/Training/Data/Resource",
            "NotebookStack/Access/Data/Resource",
            "ClusterStack/Head/Data/Resource",
            "ClusterStack/Worker/Data/Resource",
        )
    ),
    *wildcards(
        "StorageStack/Training/Images/Resource",
        ("*", "ecr:GetAuthorizationToken knows no resource."),
        ("arn:…:ecr:…:repository/*", "Those with the project's tag, which a condition names."),
    ),
    *wildcards(
        "RegistryStack/Builder/Build/Resource",
        ("*", "ecr:GetAuthorizationToken knows no resource."),
    ),
    *wildcards(
        "StorageStack/Training/Run/Resource",
        (
            "*",
            "Lists know no resource; of metrics a condition names the namespace.",
        ),
        ("arn:…:logs:…:log-group:/aws/sagemaker/*", "SageMaker names its log groups."),
        (
            "arn:…:ec2:…:network-interface/*",
            "EC2 names them; a condition names the VPC, or that of the subnet of a new one.",
        ),
        ("arn:…:ec2:…:*:security-group/*", "What a job names; a condition names the VPC."),
        ("arn:…:ec2:…:*:subnet/*", "What a job names; a condition names the VPC."),
        ("arn:…:fsx:…:task/*", "FSx names the tasks."),
    ),
    *wildcards(
        "NotebookStack/Access/Data/Resource",
        ("*", "FSx knows no resource for its lists."),
        ("arn:…:fsx:…:task/*", "FSx names the tasks."),
    ),
    *wildcards(
        "NotebookStack/Access/Launch/Resource",
        ("*", "Lists of jobs, quotas and prices know no resource."),
        ("arn:…:cloudformation:…:stack/…/*", "A stack's ARN ends in an id that AWS makes."),
        (
            "arn:…:sagemaker:…:training-job/*",
            "Jobs are named at launch; a condition names the project.",
        ),
        (
            "arn:…:sagemaker:…:experiment/*",
            "Experiments are named by their users; a condition names the project.",
        ),
        ("arn:…:logs:…:log-group:/aws/sagemaker/TrainingJobs:*", "Streams of one log group."),
    ),
    AcceptedFinding(
        path="NotebookStack/Access/Checks/Resource",
        rule="AwsSolutions-IAM5[Resource::*]",
        reason="EC2 lists whole accounts: its Describe actions know no resource.",
    ),
    AcceptedFinding(
        path="NotebookStack/Access/Images/Resource",
        rule="AwsSolutions-IAM5[Resource::*]",
        reason="ecr:GetAuthorizationToken knows no resource.",
    ),
    AcceptedFinding(
        path="NotebookStack/Access/Instance/Resource",
        rule="AwsSolutions-IAM5[Resource::arn:…:logs:…:log-group:/aws/sagemaker/NotebookInstances:*]",
        reason="Streams of one log group.",
    ),
    *(
        accepted
        for node in ("Head", "Worker")
        for accepted in (
            *wildcards(
                f"ClusterStack/{node}/Data/Resource",
                ("*", "ecr:GetAuthorizationToken knows no resource."),
                ("arn:…:ecr:…:repository/*", "Those with the project's tag: a condition names it."),
            ),
            *wildcards(
                f"ClusterStack/{node}/Node/Resource",
                ("*", "The messages of Systems Manager and lists of groups know no resource."),
                ("arn:…:ec2:…:instance/*", "EC2 names instances; the agent speaks for its own."),
            ),
        )
    ),
    *wildcards(
        "ClusterStack/Head/Node/Resource",
        (
            "arn:…:autoscaling:…:autoScalingGroup:*:autoScalingGroupName/…",
            "One group by its name: Auto Scaling makes the id before it.",
        ),
        ("arn:…:fsx:…:task/*", "FSx names the tasks."),
        (
            "arn:…:ec2:…:network-interface/*",
            "Of the head that takes the Elastic IP; a condition names the project.",
        ),
    ),
    *(
        AcceptedFinding(
            path=f"ClusterStack/{group}/Group",
            rule="AwsSolutions-AS3",
            reason="Nodes come and go with the jobs. The conductor asks the groups for their "
            "activities and tells the reason in the job's status and log.",
        )
        for group in ("HeadGroup", "WorkerGroup")
    ),
    *(
        AcceptedFinding(
            path="ClusterStack/Secrets/SshKeys",
            rule=rule,
            reason="Rotation is a Lambda. The keys are made by the head, open nothing but this "
            "cluster's nodes to each other, and are made anew with a new cluster.",
        )
        for rule in ("AwsSolutions-SMG4", "NIST.800.53.R5-SecretsManagerRotationEnabled")
    ),
    AcceptedFinding(
        path="NotificationStack/Jobs/Undelivered/Resource",
        rule="AwsSolutions-SQS3",
        reason="It is the dead-letter queue itself, of the targets of rules; the rule looks for a "
        "queue that names it.",
    ),
    *OF_KUBERNETES,
)
