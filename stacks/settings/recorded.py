"""What each stack's template tells of the settings that it was made with.

A setting is told by the stack whose resources it changes, and by no other: CloudFormation takes a
new record only together with a change of a resource.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/metadata-section-structure.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stacks.settings.group import SettingsGroup
from stacks.settings.notifications import STACK as NOTIFICATION_STACK
from stacks.settings.settings import Settings
from training.outputs import (
    ClusterOutputs,
    KubernetesOutputs,
    NetworkOutputs,
    NotebookOutputs,
    RegistryOutputs,
    StorageOutputs,
)

RECORD = "TrainingSettings"
"""The key in a template's Metadata."""

GROUPS: Mapping[str, Sequence[str]] = {
    NetworkOutputs.STACK: ("general", "network"),
    StorageOutputs.STACK: ("general", "bucket", "efs", "fsx"),
    RegistryOutputs.STACK: ("general", "registry"),
    NotebookOutputs.STACK: ("general", "notebook"),
    ClusterOutputs.STACK: ("general", "cluster"),
    KubernetesOutputs.STACK: ("general", "kubernetes"),
    NOTIFICATION_STACK: ("general", "notifications"),
}
"""Stack to the groups of `Settings` that change its resources."""

_NOT_IN_TEMPLATES = frozenset(
    {
        "aws_account",
        "aws_region",
        "termination_protection",
        "planned_instance_type",
        "planned_instance_count",
    }
)
"""Keys that say where to deploy, or are for checks alone."""


_PLACE = (
    "vpc_id",
    "vpc_cidr",
    "availability_zones",
    "zone_count",
    "private_subnets",
    "private_subnet_cidrs",
    "training_security_group_id",
)
"""Fields of the network that decide which subnets and group other stacks are in."""


def place_of(settings: Settings) -> dict[str, str]:
    """Return context key to text of what decides where stacks in the VPC are."""
    return {key: as_text(getattr(settings.network, key)) for key in _PLACE}


def record_of(settings: Settings, stack: str) -> dict[str, str]:
    """Return context key to text, as `-c` takes it, of what differs from the defaults."""
    return {
        key: as_text(value)
        for key, value, default in sorted(_values(settings, stack), key=lambda item: item[0])
        if value != default
    }


def texts_of(settings: Settings, stack: str) -> dict[str, str]:
    """Return context key to text of all settings that a stack tells, defaults too."""
    return {key: as_text(value) for key, value, _ in _values(settings, stack)}


def as_text(value: object) -> str:
    """Return a setting's value as `-c` takes it; `none` where there is nothing."""
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(as_text(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return str(value)


def _values(settings: Settings, stack: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield key, value and default."""
    for name in GROUPS[stack]:
        group: SettingsGroup = getattr(settings, name)
        for field_name, field in type(group).model_fields.items():
            key = field.alias or field_name
            if key not in _NOT_IN_TEMPLATES:
                yield key, getattr(group, field_name), field.default
