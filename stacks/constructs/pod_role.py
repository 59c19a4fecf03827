"""A role that pods of one service account act as."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct


class PodRole(Construct):
    """A role for EKS Pod Identity, which pods get by their service account and nothing else.

    Not roles of an OpenID Connect provider: that takes the issuer's address of the cluster in each
    role's policy, and a provider for each cluster.

    Attributes:
        role: For an add-on's own list, or an association.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        namespace: str,
        service_account: str,
        description: str,
        statements: Sequence[iam.PolicyStatement],
    ) -> None:
        super().__init__(scope, construct_id)
        # The service hands these on as tags of the session:
        # https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
        pods = iam.ServicePrincipal(
            "pods.eks.amazonaws.com",
            conditions={
                "StringEquals": {
                    "aws:SourceAccount": Aws.ACCOUNT_ID,
                    "aws:RequestTag/eks-cluster-name": cluster_name,
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": service_account,
                }
            },
        )
        self.role = iam.Role(
            self, "Role", description=description, assumed_by=pods.with_session_tags()
        )
        self.policy = iam.ManagedPolicy(
            self, "Policy", description=description, roles=[self.role], statements=statements
        )
