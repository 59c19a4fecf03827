"""The account and region of a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from training.errors import UsageError
from training.outputs import ClusterOutputs


@dataclass(frozen=True)
class Where:
    """Where a cluster is."""

    account: str
    region: str


def where_is(cluster: ClusterOutputs) -> Where:
    """Return where a cluster is, which no output names by itself.

    Raises:
        UsageError: The output that tells it is no ARN.
    """
    parts = cluster.key_secret_arn.split(":")
    if len(parts) < 7:
        raise UsageError(
            f"{cluster.STACK}.KeySecretArn is {cluster.key_secret_arn!r}; expected an ARN, "
            "arn:aws:secretsmanager:<region>:<account>:secret:<name>"
        )
    return Where(account=parts[4], region=parts[3])
