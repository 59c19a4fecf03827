"""What nodes of the EKS cluster act as."""

from __future__ import annotations

from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.file_system_access import may_be_root
from stacks.constructs.kubernetes_access import may_be_node


class KubernetesNodeRole(Construct):
    """One role for all nodes. Pods do not reach it: they have roles of their own.

    Attributes:
        role: EKS makes the instance profile.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        root_of: efs.IFileSystem | None,
    ) -> None:
        """Build it.

        Args:
            cluster_name: Which they join.
            root_of: EFS, where root on it takes a role.
        """
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            description="The nodes of the Kubernetes cluster",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        )
        iam.ManagedPolicy(
            self,
            "Policy",
            description="Joins the Kubernetes cluster and pulls images",
            roles=[self.role],
            statements=[
                *may_be_node(cluster_name=cluster_name),
                *([may_be_root(root_of)] if root_of else []),
            ],
        )
