"""What public scanners find in the templates and we keep as it is, each with the reason.

What cdk-nag finds is in stacks/acknowledgments.py, since it is judged at every synth.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Declined:
    """A rule that is not followed at one construct, or at every resource of a type."""

    rule: str
    at: str
    """A construct's path (`StorageStack/Data/Bucket/Resource`), or a resource type."""
    reason: str


ACCESS_LOGS = "StorageStack/Data/AccessLogs/Resource"
SOURCES = "RegistryStack/Builder/Sources/Resource"

UNDELIVERED = "NotificationStack/Jobs/Undelivered/Resource"

SSH = "ClusterStack/Ssh/Group/Resource"
HEAD = "ClusterStack/HeadGroup/Launch"
WORKER = "ClusterStack/WorkerGroup/Launch"
GPU_NODE = "KubernetesStack/GpuGroup/Launch"
_OPEN_SSH = "Whoever sets cluster_allow_open_ssh = true wants SSH for everybody."
_HEAD_WITH_SSH = (
    "Whoever sets cluster_ssh_location has a head with a public address; it takes an Elastic IP, "
    "for which it has to reach EC2 from a subnet without NAT."
)

CHECKOV: tuple[Declined, ...] = (
    Declined(rule="CKV_AWS_24", at=SSH, reason=_OPEN_SSH),
    Declined(rule="CKV_AWS_88", at=HEAD, reason=_HEAD_WITH_SSH),
    Declined(
        rule="CKV_AWS_18",
        at=SOURCES,
        reason="It holds what is in the clone of whoever has an image built, for a week.",
    ),
    Declined(
        rule="CKV_AWS_18",
        at="StorageStack/Data/Bucket/Resource",
        reason="Whoever sets bucket_access_logs = none wants no access logs.",
    ),
    Declined(
        rule="CKV_AWS_18",
        at=ACCESS_LOGS,
        reason="It holds the access logs of the other bucket; its own would grow for ever.",
    ),
    Declined(
        rule="CKV_AWS_21",
        at=ACCESS_LOGS,
        reason="S3 writes each access log once, under a name of its own, and nobody else may.",
    ),
    Declined(
        rule="CKV_AWS_33",
        at="StorageStack/Encryption/Key/Resource",
        reason="The principal is everybody since FSx makes a role for each file system; the "
        "conditions leave only those roles of this account, and only by way of S3.",
    ),
    Declined(
        rule="CKV_AWS_27",
        at=UNDELIVERED,
        reason="SQS encrypts it with a key of its own. The policy of one of ours would let "
        "EventBridge use it, and could not say for which rules.",
    ),
)

CONTROL_TOWER: tuple[Declined, ...] = (
    *(
        Declined(rule=rule, at="AWS::AutoScaling::AutoScalingGroup", reason=reason)
        for rule, reason in (
            ("CT.AUTOSCALING.PR.1", "EFA does not leave a subnet, nor a placement group its zone."),
            ("CT.AUTOSCALING.PR.6", "Ranks wait for each other, so all workers are of one type."),
        )
    ),
    Declined(
        rule="CT.EC2.PR.10",
        at="AWS::EC2::LaunchTemplate",
        reason="Metrics by the minute are paid for each node; jobs print their own.",
    ),
    Declined(
        rule="CT.EC2.PR.15",
        at=WORKER,
        reason="P3 is older than Nitro; whoever takes it wants V100.",
    ),
    Declined(rule="CT.EC2.PR.3", at=SSH, reason=_OPEN_SSH),
    Declined(rule="CT.EC2.PR.4", at=SSH, reason=_OPEN_SSH),
    Declined(rule="CT.EC2.PR.9", at=HEAD, reason=_HEAD_WITH_SSH),
    Declined(
        rule="CT.EC2.PR.9",
        at=WORKER,
        reason="With several interfaces EC2 takes neither yes nor no, and gives no address.",
    ),
    Declined(
        rule="CT.EC2.PR.15",
        at=GPU_NODE,
        reason="P3 is older than Nitro; whoever takes it wants V100.",
    ),
    Declined(
        rule="CT.EC2.PR.9",
        at=GPU_NODE,
        reason="With several interfaces EC2 takes neither yes nor no, and gives no address.",
    ),
    Declined(
        rule="CT.CLOUDWATCH.PR.2",
        at="KubernetesStack/ControlPlane/LogGroup/Resource",
        reason="Whoever sets eks_log_retention_days below a year wants to keep them so long.",
    ),
    Declined(
        rule="CT.EKS.PR.1",
        at="KubernetesStack/ControlPlane/Cluster",
        reason="Whoever sets eks_api_cidrs wants the endpoint reached from there.",
    ),
    Declined(
        rule="CT.ELASTICFILESYSYSTEM.PR.3",
        at="KubernetesStack/AccessPoint/Point",
        reason="Pods see what the nodes and SageMaker see, which mount the root; it gives them "
        "a user, not a folder.",
    ),
    Declined(
        rule="CT.CODEBUILD.PR.4",
        at="RegistryStack/Builder/Project/Resource",
        reason="Docker builds images in it, which takes privileged mode.",
    ),
    Declined(
        rule="CT.S3.PR.2",
        at=SOURCES,
        reason="It holds what is in the clone of whoever has an image built, for a week.",
    ),
    Declined(
        rule="CT.ELASTICFILESYSYSTEM.PR.2",
        at="StorageStack/Shared/FileSystem/Resource",
        reason="Whoever sets efs_backups = false wants no backups.",
    ),
    Declined(
        rule="CT.SAGEMAKER.PR.3",
        at="NotebookStack/Notebook/Instance",
        reason="Whoever sets notebook_root_access = true wants a notebook with root access.",
    ),
    Declined(
        rule="CT.S3.PR.2",
        at="StorageStack/Data/Bucket/Resource",
        reason="Whoever sets bucket_access_logs = none wants no access logs.",
    ),
    Declined(
        rule="CT.SQS.PR.1",
        at=UNDELIVERED,
        reason="It is the dead-letter queue itself; what nobody takes out is of no use later.",
    ),
    Declined(
        rule="CT.KMS.PR.3",
        at="AWS::KMS::Key",
        reason="A refusal of every grant but those for services of AWS, in each key's policy. "
        "Only who administers the account can make a grant here, and a refusal that does not "
        "fit a service's way of using the key makes data unreadable.",
    ),
    Declined(
        rule="CT.S3.PR.4",
        at="AWS::S3::Bucket",
        reason="Nothing listens to events of these buckets.",
    ),
    Declined(
        rule="CT.S3.PR.9",
        at="AWS::S3::Bucket",
        reason="Object lock keeps its owner from deleting what training writes: checkpoints are "
        "replaced and old logs removed.",
    ),
    Declined(
        rule="CT.S3.PR.2",
        at=ACCESS_LOGS,
        reason="It holds the access logs of the other bucket; its own would grow for ever.",
    ),
    Declined(
        rule="CT.S3.PR.10",
        at=ACCESS_LOGS,
        reason="S3 delivers access logs only to buckets encrypted with its own key: "
        "https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html",
    ),
    Declined(
        rule="CT.S3.PR.11",
        at=ACCESS_LOGS,
        reason="S3 writes each access log once, under a name of its own, and nobody else may.",
    ),
)

CFRIPPER: tuple[Declined, ...] = (
    Declined(rule="EC2SecurityGroupOpenToWorldRule", at=SSH, reason=_OPEN_SSH),
    *(
        Declined(
            rule="WildcardResourceRule",
            at=f"ClusterStack/{node}/Node/Resource",
            reason="Messages of Systems Manager and lists of groups, for which AWS knows no "
            "resource.",
        )
        for node in ("Head", "Worker")
    ),
    *(
        Declined(
            rule="WildcardResourceRule",
            at=f"KubernetesStack/{path}/Policy/Resource",
            reason="Lists and descriptions, for which AWS knows no resource.",
        )
        for path in ("Addons/AwsFsxCsiDriverPods", "Autoscaler", "ControlPlane", "Jobs")
    ),
    Declined(
        rule="GenericResourceWildcardPolicyRule",
        at="AWS::KMS::Key",
        reason="A key's policy gives every action to the account, so that its IAM policies count: "
        "https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html",
    ),
    Declined(
        rule="GenericResourceFullWildcardPrincipalRule",
        at="AWS::EC2::VPCEndpoint",
        reason="An endpoint's policy narrows what the callers' own policies allow, whoever they "
        "are; it names no principal.",
    ),
    Declined(
        rule="WildcardResourceRule",
        at="AWS::EC2::VPCEndpoint",
        reason="Reading from S3 is open since image layers, packages and public data are in "
        "buckets of others; all else is held to this account by a condition.",
    ),
    Declined(
        rule="WildcardResourceRule",
        at="NotebookStack/Access/Launch/Resource",
        reason="Lists of jobs, quotas and prices: the services know no resource for them.",
    ),
    Declined(
        rule="WildcardResourceRule",
        at="NotebookStack/Access/Data/Resource",
        reason="Lists of FSx's associations and tasks, for which FSx knows no resource.",
    ),
    Declined(
        rule="WildcardResourceRule",
        at="StorageStack/Training/Run/Resource",
        reason="fsx:DescribeFileSystems, for which FSx knows no resource.",
    ),
    Declined(
        rule="GenericResourcePartialWildcardPrincipalRule",
        at="AWS::ECR::Repository",
        reason="registry_pull_accounts names accounts: each decides which of its roles may pull.",
    ),
    Declined(
        rule="S3ObjectVersioningRule",
        at=ACCESS_LOGS,
        reason="S3 writes each access log once, under a name of its own, and nobody else may.",
    ),
    Declined(
        rule="EC2SecurityGroupMissingEgressRule",
        at="AWS::EC2::SecurityGroup",
        reason="The rule looks into the group only. Rules that name other groups are resources of "
        "their own, and the first of them takes the place of the rule that lets all out: "
        "https://github.com/aws/aws-cdk/pull/998",
    ),
)

OTHER_PACKS: tuple[Declined, ...] = (
    *(
        Declined(
            rule="S3BucketDefaultLockEnabled",
            at=bucket,
            reason="Object lock keeps its owner from deleting what training writes: checkpoints "
            "are replaced and old logs removed.",
        )
        for bucket in ("StorageStack/Data/Bucket/Resource", ACCESS_LOGS, SOURCES)
    ),
    Declined(
        rule="CodeBuildProjectSourceRepoUrl",
        at="RegistryStack/Builder/Project/Resource",
        reason="The rule wants GitHub or Bitbucket; the source is an archive on S3.",
    ),
)
"""Rules of packs of cdk-nag that no synth runs, without the packs' names."""
