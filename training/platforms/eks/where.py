"""Where jobs of an EKS cluster are: its account and region, and their namespace."""

from __future__ import annotations

import re
from dataclasses import dataclass

from training.errors import UsageError
from training.outputs import KubernetesOutputs

_CLUSTER_ARN = re.compile(
    r"arn:aws[a-z-]*:eks:(?P<region>[a-z0-9-]+):(?P<account>[0-9]{12}):cluster/[A-Za-z0-9_-]+"
)
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""A label as DNS has it: https://www.rfc-editor.org/rfc/rfc1123"""


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
    found = _CLUSTER_ARN.fullmatch(cluster.cluster_arn)
    if found is None:
        raise UsageError(
            f"{cluster.STACK}.ClusterArn is {cluster.cluster_arn!r}; expected an ARN, "
            "arn:aws:eks:<region>:<account>:cluster/<name>"
        )
    return Where(account=found["account"], region=found["region"])


def check_namespace(cluster: KubernetesOutputs) -> None:
    """Refuse a namespace of jobs that no cluster has.

    Raises:
        UsageError: The output is no name of one.
    """
    if not _NAMESPACE.fullmatch(cluster.namespace):
        raise UsageError(
            f"{cluster.STACK}.Namespace is {cluster.namespace!r}; expected 1 to 63 small letters "
            "of English, digits and hyphens, neither first nor last a hyphen"
        )
