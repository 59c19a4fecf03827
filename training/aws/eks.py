"""Kubernetes clusters, their groups of nodes, and the add-ons that AWS looks after."""

from __future__ import annotations

from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask

_MISSING = "ResourceNotFoundException"


class Eks:
    """Amazon EKS."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def cluster(self, name: str) -> dict[str, Any] | None:
        """Return a cluster's description; None where there is none of that name."""
        return self._described("describe_cluster", "cluster", name=name)

    def node_group(self, cluster: str, name: str) -> dict[str, Any] | None:
        """Return a managed node group of a cluster; None where there is none of that name."""
        return self._described(
            "describe_nodegroup", "nodegroup", clusterName=cluster, nodegroupName=name
        )

    def addon(self, cluster: str, name: str) -> dict[str, Any] | None:
        """Return an add-on of a cluster; None where the cluster does not have it."""
        return self._described("describe_addon", "addon", clusterName=cluster, addonName=name)

    def version(self, name: str) -> dict[str, Any] | None:
        """Return what EKS says of a version of Kubernetes, and of its support; None: nothing."""
        found: list[dict[str, Any]] = ask(
            self._client, "describe_cluster_versions", clusterVersions=[name]
        )["clusterVersions"]
        return found[0] if found else None

    def _described(self, method: str, field: str, **request: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = ask(self._client, method, **request)[field]
        except AwsRefused as error:
            if error.code == _MISSING:
                return None
            raise
        return found
