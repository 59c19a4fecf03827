"""What IAM knows: every action, and whether a policy can name the resource that it is about."""

from __future__ import annotations

import fnmatch
import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def reference() -> dict[str, dict[str, Any]]:
    """Return AWS's service authorization reference, as cfn-lint carries it.

    By service prefix; the names of actions are in lower case.
    https://docs.aws.amazon.com/service-authorization/latest/reference/reference.html
    """
    data = files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json")
    known: dict[str, dict[str, Any]] = json.loads(data.read_text("utf-8"))
    return known


def exists(action: str) -> bool:
    """Whether there is an action of this name, or one that its wildcards match."""
    return bool(_matching(action))


def takes_resource(action: str) -> bool:
    """Whether a policy can say which resource the action may be used on."""
    service, _, _ = action.partition(":")
    actions = reference()[service]["Actions"]
    return any(actions[name].get("Resources") for name in _matching(action))


def _matching(action: str) -> list[str]:
    service, _, name = action.partition(":")
    return fnmatch.filter(reference().get(service, {}).get("Actions", {}), name.lower())
