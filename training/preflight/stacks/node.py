"""One kind of a cluster's nodes, as the settings describe it."""

from __future__ import annotations

from dataclasses import dataclass

from training.instances import Instance, known_instance


@dataclass(frozen=True)
class PlannedNode:
    """The head or the workers of ClusterStack, or the GPU or system nodes of KubernetesStack."""

    kind: str
    """`head` or `worker`; `GPU node` or `system node`."""
    instance_type: str
    first: int
    """How many the deploy starts; it fails where they do not come."""
    most: int
    is_spot: bool = False
    type_key: str | None = None
    """The setting that names the type; None: that of ClusterStack."""
    most_key: str = "cluster_max_workers"
    """The setting that says how many there are at most."""

    @property
    def key(self) -> str:
        """The setting that names the type."""
        return self.type_key or f"cluster_{self.kind}_instance_type"

    @property
    def family(self) -> str:
        return self.instance_type.partition(".")[0]

    @property
    def gpu_instance(self) -> Instance | None:
        """The type's row of our table; None for a type without GPUs."""
        return known_instance(self.instance_type)
