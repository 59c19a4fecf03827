"""The add-ons of the EKS cluster: what EKS installs, and keeps as it is meant to be."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from stacks.constructs.kubernetes_access import may_give_addresses
from stacks.constructs.pod_role import PodRole

SYSTEM_NAMESPACE = "kube-system"


@dataclass(frozen=True, kw_only=True)
class _Account:
    """A service account of an add-on, and what its pods may do."""

    name: str
    description: str
    statements: Sequence[iam.PolicyStatement]


class KubernetesAddons(Construct):
    """Networking, then the nodes, then what needs nodes to run on.

    EKS says that an add-on is there when its pods run. Those of the first group are on every node,
    and a node is ready only with them; those of the second have pods of their own.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.CfnCluster,
        cluster_name: str,
        versions: Mapping[str, str],
        vpc: ec2.IVpc,
        project: str,
    ) -> None:
        """Add those that nodes need.

        Args:
            cluster: That they are for.
            cluster_name: Its name as text.
            versions: Add-on to version; EKS chooses those that are not there.
            vpc: Of the nodes.
            project: The value of the tag on the nodes.
        """
        super().__init__(scope, construct_id)
        self._cluster, self._cluster_name, self._versions = cluster, cluster_name, versions
        self.of_every_node: list[IDependable] = [
            self._add("kube-proxy"),
            self._add("eks-pod-identity-agent"),
            self._add(
                "vpc-cni",
                account=_Account(
                    name="aws-node",
                    description="Gives the cluster's pods their addresses",
                    statements=may_give_addresses(vpc=vpc, project=project),
                ),
                # Its schema wants a text. Without it a network policy is a wish.
                configuration={"enableNetworkPolicy": "true"},
            ),
        ]

    def add_to_nodes(
        self, nodes: IDependable, *, shared: efs.IFileSystem, has_lustre: bool
    ) -> None:
        """Add those whose pods run on system nodes.

        Args:
            nodes: That have to be there first.
            shared: EFS, which the driver mounts.
            has_lustre: Whether there is FSx for Lustre to mount.
        """
        added = [
            self._add("coredns"),
            self._add(
                "aws-efs-csi-driver",
                account=_Account(
                    name="efs-csi-controller-sa",
                    description="Looks up the file system that the cluster's pods mount",
                    statements=_may_look_up(shared),
                ),
            ),
        ]
        if has_lustre:
            added.append(
                self._add(
                    "aws-fsx-csi-driver",
                    account=_Account(
                        name="fsx-csi-controller-sa",
                        description="Looks up the Lustre file system that the cluster's pods mount",
                        statements=[
                            iam.PolicyStatement(
                                actions=["fsx:DescribeFileSystems"],
                                resources=["*"],  # FSx knows no resource for it.
                            )
                        ],
                    ),
                )
            )
        for addon in added:
            addon.node.add_dependency(nodes)

    def _add(
        self,
        name: str,
        *,
        account: _Account | None = None,
        configuration: Mapping[str, str] | None = None,
    ) -> eks.CfnAddon:
        construct_id = "".join(part.capitalize() for part in name.split("-"))
        role = self._role(construct_id, account) if account else None
        addon = eks.CfnAddon(
            self,
            construct_id,
            addon_name=name,
            addon_version=self._versions.get(name),
            cluster_name=self._cluster.ref,
            configuration_values=json.dumps(configuration) if configuration else None,
            # What somebody changed by hand goes back.
            resolve_conflicts="OVERWRITE",
            pod_identity_associations=(
                [
                    eks.CfnAddon.PodIdentityAssociationProperty(
                        role_arn=role.role.role_arn, service_account=account.name
                    )
                ]
                if role and account
                else None
            ),
        )
        if role:
            addon.node.add_dependency(role.policy)
        return addon

    def _role(self, addon: str, account: _Account) -> PodRole:
        return PodRole(
            self,
            f"{addon}Pods",
            cluster_name=self._cluster_name,
            namespace=SYSTEM_NAMESPACE,
            service_account=account.name,
            description=account.description,
            statements=account.statements,
        )


def _may_look_up(shared: efs.IFileSystem) -> list[iam.PolicyStatement]:
    """Return what the EFS driver asks. It makes nothing: the volumes are there.

    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEFSCSIDriverPolicy.html
    """
    return [
        iam.PolicyStatement(
            actions=[
                "elasticfilesystem:DescribeAccessPoints",
                "elasticfilesystem:DescribeFileSystems",
                "elasticfilesystem:DescribeMountTargets",
            ],
            resources=[shared.file_system_arn],
        ),
        iam.PolicyStatement(
            actions=["ec2:DescribeAvailabilityZones"],
            resources=["*"],  # EC2 lists whole regions.
        ),
    ]
