"""The account and region of an EKS cluster."""

from __future__ import annotations

from dataclasses import dataclass

from training.errors import UsageError
from training.outputs import KubernetesOutputs


@dataclass(frozen=True)
class Where:
    """Where a cluster is."""

    account: str
    region: str


def where_is(cluster: KubernetesOutputs) -> Where:
    """Return where a cluster is, which its ARN tells.

    Raises:
        UsageError: The output is no ARN.
    """
    parts = cluster.cluster_arn.split(":")
    if len(parts) != 6 or parts[2] != "eks":
        raise UsageError(
            f"{cluster.STACK}.ClusterArn is {cluster.cluster_arn!r}; expected an ARN, "
            "arn:aws:eks:<region>:<account>:cluster/<name>"
        )
    return Where(account=parts[4], region=parts[3])
