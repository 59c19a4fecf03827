"""What tags tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def stack_of(resource: Mapping[str, Any]) -> str | None:
    """Return the name of the CloudFormation stack that made a resource; None for any other."""
    return tags_of(resource).get("aws:cloudformation:stack-name")


def tags_of(resource: Mapping[str, Any]) -> dict[str, str]:
    """Return a resource's tags as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in resource.get("Tags", [])}
