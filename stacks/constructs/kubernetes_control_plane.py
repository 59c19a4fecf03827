"""The control plane of the EKS cluster: its API, its secrets, its log, and who administers it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.kubernetes_access import may_balance_load, may_run_control_plane
from stacks.constructs.log_key import let_cloudwatch_logs_use

Cluster = eks.CfnCluster

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All that there are. https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html"""

ADMIN_POLICY = "AmazonEKSClusterAdminPolicy"
"""https://docs.aws.amazon.com/eks/latest/userguide/access-policies.html"""


@dataclass(frozen=True, kw_only=True)
class ControlPlaneOptions:
    """What the settings say of it."""

    name: str
    version: str
    api_cidrs: Sequence[str]
    """Who reaches the API from outside; nobody where it is empty."""
    admin_arns: Sequence[str]
    log_retention_days: int
    is_protected: bool
    """Whether EKS refuses to delete the cluster."""


class KubernetesControlPlane(Construct):
    """A cluster of EKS with its own key, log group and role.

    L1: the L2 of either module comes with a provider that applies manifests, which is a Lambda.

    The API answers inside the VPC at all times. Its network interfaces are in the training security
    group, as the nodes are, so that members reach it and nobody else, and it reaches the nodes;
    the group that EKS makes is for nothing else here.

    Attributes:
        cluster: Its Ref is the name.
        name: As given, so that it can be told before the cluster is there.
        log_group: Of what the control plane logs.
        balancer_group: For nodes: where Kubernetes opens them to the clients of load balancers.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        options: ControlPlaneOptions,
        vpc: ec2.IVpc,
        security_group: ec2.ISecurityGroup,
    ) -> None:
        """Build it.

        Args:
            options: Of the settings.
            vpc: With private subnets in two zones at least.
            security_group: Whose members reach the API and are reached by it.
        """
        super().__init__(scope, construct_id)
        self.name = options.name
        self._options = options
        self._key = self._make_key()
        self.log_group = self._make_log_group()
        self.balancer_group = self._make_balancer_group(vpc)
        self._role = self._make_role()
        self.cluster = self._make_cluster(
            [subnet.subnet_id for subnet in vpc.private_subnets], security_group
        )
        for arn in options.admin_arns:
            self._add_admin(arn)

    def _make_key(self) -> kms.Key:
        key = kms.Key(
            self,
            "Key",
            description="Encrypts the secrets and the log of the Kubernetes cluster",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        let_cloudwatch_logs_use(key)
        return key

    def _make_log_group(self) -> logs.LogGroup:
        """Return the group that EKS would make, without end and without our key.

        It goes with the cluster: EKS says what it is named, so that the next cluster of the name
        could not be made beside it.
        """
        group = logs.LogGroup(
            self,
            "LogGroup",
            log_group_name=f"/aws/eks/{self.name}/cluster",
            encryption_key=self._key,
            removal_policy=RemovalPolicy.DESTROY,
        )
        # The construct takes an enumeration of names such as TWO_WEEKS; the settings have days.
        resource = cast(logs.CfnLogGroup, group.node.default_child)
        resource.retention_in_days = self._options.log_retention_days
        return group

    def _make_balancer_group(self, vpc: ec2.IVpc) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "BalancerGroup",
            vpc=vpc,
            description="Where Kubernetes lets the clients of load balancers in",
            allow_all_outbound=False,
        )
        # Of a node's groups the cloud provider changes the one with this tag.
        resource = cast(ec2.CfnSecurityGroup, group.node.default_child)
        resource.tags.set_tag(f"kubernetes.io/cluster/{self.name}", "owned")
        return group

    def _make_role(self) -> iam.Role:
        # https://docs.aws.amazon.com/eks/latest/userguide/cross-service-confused-deputy-prevention.html
        role = iam.Role(
            self,
            "Role",
            description="The control plane of the Kubernetes cluster",
            assumed_by=iam.ServicePrincipal(
                "eks.amazonaws.com",
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {"aws:SourceArn": self._arn},
                },
            ),
        )
        self._policy = iam.ManagedPolicy(
            self,
            "Policy",
            description="Manages nodes and load balancers of the Kubernetes cluster",
            roles=[role],
            statements=[
                *may_run_control_plane(key_arn=self._key.key_arn),
                *may_balance_load(security_group_id=self.balancer_group.security_group_id),
            ],
        )
        return role

    @property
    def _arn(self) -> str:
        return f"arn:{Aws.PARTITION}:eks:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/{self.name}"

    def _make_cluster(
        self, subnet_ids: Sequence[str], security_group: ec2.ISecurityGroup
    ) -> Cluster:
        options = self._options
        cluster = Cluster(
            self,
            "Cluster",
            name=options.name,
            version=options.version,
            role_arn=self._role.role_arn,
            resources_vpc_config=Cluster.ResourcesVpcConfigProperty(
                subnet_ids=subnet_ids,
                security_group_ids=[security_group.security_group_id],
                endpoint_private_access=True,
                endpoint_public_access=bool(options.api_cidrs),
                public_access_cidrs=list(options.api_cidrs) or None,
            ),
            encryption_config=[
                Cluster.EncryptionConfigProperty(
                    resources=["secrets"],
                    provider=Cluster.ProviderProperty(key_arn=self._key.key_arn),
                )
            ],
            logging=Cluster.LoggingProperty(
                cluster_logging=Cluster.ClusterLoggingProperty(
                    enabled_types=[
                        Cluster.LoggingTypeConfigProperty(type=each) for each in LOG_TYPES
                    ]
                )
            ),
            access_config=Cluster.AccessConfigProperty(
                # Access entries alone; no ConfigMap that somebody in the cluster could change.
                authentication_mode="API",
                # Else CloudFormation's role would administer the cluster, unseen.
                bootstrap_cluster_creator_admin_permissions=False,
            ),
            # They come as add-ons, which are asked for one by one.
            bootstrap_self_managed_addons=False,
            upgrade_policy=Cluster.UpgradePolicyProperty(support_type="STANDARD"),
            deletion_protection=options.is_protected,
        )
        # EKS makes a log group of its own where there is none, and uses its role at once.
        cluster.node.add_dependency(self.log_group, self._policy)
        return cluster

    def _add_admin(self, arn: str) -> None:
        # Another order of the same ARNs is no change.
        name = hashlib.sha256(arn.encode()).hexdigest()[:8]
        eks.CfnAccessEntry(
            self,
            f"Admin{name}",
            cluster_name=self.cluster.ref,
            principal_arn=arn,
            access_policies=[
                eks.CfnAccessEntry.AccessPolicyProperty(
                    policy_arn=f"arn:{Aws.PARTITION}:eks::aws:cluster-access-policy/{ADMIN_POLICY}",
                    access_scope=eks.CfnAccessEntry.AccessScopeProperty(type="cluster"),
                )
            ],
        )
