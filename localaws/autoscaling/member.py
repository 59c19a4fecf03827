"""An instance of a group."""

from __future__ import annotations

from typing import Any

from moto.autoscaling.models import InstanceState
from moto.ec2.models.instances import Instance


class Member(InstanceState):
    """An instance with the version of the launch template that it was started from.

    moto shows the group's default version for all, so that nobody could tell old from new.
    """

    def __init__(self, instance: Instance, version: str | None = None, **arguments: Any) -> None:
        super().__init__(instance, **arguments)
        self.version = version

    @property
    def launch_template(self) -> dict[str, Any] | None:
        template = self.auto_scaling_group.ec2_launch_template
        if template is None or self.version is None:
            return None
        return {
            "LaunchTemplateId": template.id,
            "LaunchTemplateName": template.name,
            "Version": self.version,
        }
