"""Reads the statements of policies out of templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.stacks.matrix import Synth, all_resources

KEY_POLICY = "AWS::KMS::Key"
ENDPOINT_POLICY = "AWS::EC2::VPCEndpoint"


@dataclass(frozen=True)
class Statement:
    """One statement of one resource, with lists where IAM takes a single text too."""

    where: str
    """`Stack/LogicalId`."""
    resource_type: str
    effect: str
    actions: tuple[str, ...]
    resources: tuple[Any, ...]
    principals: dict[str, list[Any]]
    """By kind: `AWS`, `Service`, `Federated`; `*` is a principal of the kind AWS."""
    conditions: dict[str, dict[str, Any]]

    @property
    def condition_keys(self) -> set[str]:
        return {key for operator in self.conditions.values() for key in operator}

    @property
    def is_allow(self) -> bool:
        return self.effect == "Allow"


def statements(synth: Synth) -> Iterator[Statement]:
    """Yield the statements of every policy of every stack: roles', resources' and endpoints'."""
    for where, resource in all_resources(synth):
        for node in _statement_nodes(resource.get("Properties", {})):
            assert not {"NotAction", "NotResource", "NotPrincipal"} & set(node) or (
                node["Effect"] == "Deny"
            ), f"{where}: an Allow of all but some: {node}"
            yield Statement(
                where=where,
                resource_type=resource["Type"],
                effect=node["Effect"],
                actions=tuple(_as_list(node.get("Action", []))),
                resources=tuple(_as_list(node.get("Resource", []))),
                principals=_principals(node.get("Principal", {})),
                conditions=node.get("Condition", {}),
            )


def _statement_nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Yield what looks like a statement, at any depth."""
    if isinstance(node, dict):
        if node.get("Effect") in ("Allow", "Deny"):
            yield node
        for value in node.values():
            yield from _statement_nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from _statement_nodes(value)


def _principals(principal: Any) -> dict[str, list[Any]]:
    if principal == "*":
        return {"AWS": ["*"]}
    return {kind: _as_list(who) for kind, who in principal.items()}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
