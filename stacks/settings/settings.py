"""What a user may choose about the stacks: one frozen object of all groups, checked once.

The defaults are in the groups and nowhere else. Nothing below app.py reads context or
environment, and checking needs neither network nor account.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from stacks.settings.bucket import BucketSettings
from stacks.settings.cluster import ClusterSettings
from stacks.settings.context import one_line, own_keys, unknown_key
from stacks.settings.efs import EfsSettings
from stacks.settings.fsx import FsxSettings
from stacks.settings.general import GeneralSettings
from stacks.settings.group import SettingsGroup, refuse
from stacks.settings.kubernetes import KubernetesSettings
from stacks.settings.network import NetworkSettings
from stacks.settings.notebook import DEFAULT_WHEELS, NotebookSettings
from stacks.settings.notifications import NotificationSettings
from stacks.settings.registry import RegistrySettings
from stacks.settings.together import problems, zone_of_cluster, zone_of_kubernetes
from training.errors import UsageError


class Settings(BaseModel):
    """The settings of all stacks, by part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    general: GeneralSettings = GeneralSettings()
    network: NetworkSettings = NetworkSettings()
    bucket: BucketSettings = BucketSettings()
    efs: EfsSettings = EfsSettings()
    fsx: FsxSettings = FsxSettings()
    notebook: NotebookSettings = NotebookSettings()
    registry: RegistrySettings = RegistrySettings()
    cluster: ClusterSettings = ClusterSettings()
    kubernetes: KubernetesSettings = KubernetesSettings()
    notifications: NotificationSettings = NotificationSettings()

    @classmethod
    def groups(cls) -> dict[str, type[SettingsGroup]]:
        """Return field name to the group's class."""
        return {
            name: field.annotation
            for name, field in cls.model_fields.items()
            if isinstance(field.annotation, type) and issubclass(field.annotation, SettingsGroup)
        }

    @classmethod
    def allowed(cls) -> dict[str, str]:
        """Return context key to what it allows, of all groups."""
        return {
            key: text for group in cls.groups().values() for key, text in group.allowed().items()
        }

    @classmethod
    def from_context(cls, context: Mapping[str, Any]) -> Self:
        """Read the settings from an app's context.

        Raises:
            UsageError: A key is not known or a value not allowed; one line that names the key.
        """
        values = own_keys(context)
        allowed = cls.allowed()
        for key in values:
            if key not in allowed:
                raise UsageError(unknown_key(key, list(allowed)))
        try:
            return cls.model_validate(
                {
                    name: group.model_validate(
                        {key: values[key] for key in group.allowed() if key in values}
                    )
                    for name, group in cls.groups().items()
                }
            )
        except ValidationError as error:
            raise UsageError(one_line(error, allowed)) from error

    @model_validator(mode="after")
    def _parts_go_together(self) -> Self:
        refuse(
            problems(
                general=self.general,
                network=self.network,
                bucket=self.bucket,
                efs=self.efs,
                fsx=self.fsx,
                notebook=self.notebook,
                cluster=self.cluster,
                kubernetes=self.kubernetes,
                notifications=self.notifications,
            )
        )
        return self

    @property
    def notebook_zone(self) -> int:
        """The number of the notebook's private subnet: near FSx, which is in one zone."""
        return self.notebook.zone or (self.fsx.zone if self.fsx.is_wanted else 1)

    @property
    def cluster_zone(self) -> int:
        """The number of the cluster's private subnet: near FSx, which is in one zone."""
        return zone_of_cluster(self.cluster, self.fsx)

    @property
    def kubernetes_zone(self) -> int:
        """The number of the private subnet of the GPU nodes of EKS: near FSx, too."""
        return zone_of_kubernetes(self.kubernetes, self.fsx)

    @property
    def notebook_wheels(self) -> str | None:
        """The folder of the bucket with the notebook's Python packages; None: it asks PyPI."""
        if self.notebook.wheels or self.network.internet_access:
            return self.notebook.wheels
        return "/".join(part for part in (self.bucket.prefix, DEFAULT_WHEELS) if part)
