"""Reads policies of resources: who is let in, and who is shut out.

A simple reading. It knows actions with wildcards and the principals `*`, account and role; a
condition is not evaluated: callers get its keys and say what they mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Self


@dataclass(frozen=True)
class Statement:
    """One statement of a policy."""

    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The statement's id, for messages."""
        return str(self.body.get("Sid") or "a statement without Sid")

    @property
    def is_allow(self) -> bool:
        return bool(self.body["Effect"] == "Allow")

    def covers(self, action: str) -> bool:
        """Return whether the statement is about an action; letters' case does not count."""
        wanted = action.lower()
        if "NotAction" in self.body:
            excluded = _listed(self.body["NotAction"])
            return not any(fnmatchcase(wanted, pattern.lower()) for pattern in excluded)
        listed = _listed(self.body.get("Action", []))
        return any(fnmatchcase(wanted, pattern.lower()) for pattern in listed)

    @property
    def principals(self) -> list[str]:
        """ARNs, account ids or `*`; nothing where the statement says who is left out."""
        principal = self.body.get("Principal", [])
        if isinstance(principal, dict):
            return [name for names in principal.values() for name in _listed(names)]
        return _listed(principal)

    @property
    def is_about_everyone(self) -> bool:
        """Whether it names all principals, or all but some."""
        return "*" in self.principals or "NotPrincipal" in self.body

    @property
    def conditions(self) -> dict[tuple[str, str], list[str]]:
        """Operator and condition key, in lower case, to the values."""
        return {
            (operator.lower(), key.lower()): _listed(values)
            for operator, keys in self.body.get("Condition", {}).items()
            for key, values in keys.items()
        }


@dataclass(frozen=True)
class Policy:
    """The policy of a bucket, key or file system."""

    statements: tuple[Statement, ...]

    @classmethod
    def parse(cls, document: str) -> Self:
        """Read what AWS keeps: it takes no policy that is not well formed."""
        statements = json.loads(document)["Statement"]
        if isinstance(statements, dict):
            statements = [statements]
        return cls(tuple(Statement(body) for body in statements))

    def allowing(self, action: str) -> Iterator[Statement]:
        """Yield the statements that allow an action to somebody."""
        return (found for found in self.statements if found.is_allow and found.covers(action))

    def denying(self, action: str) -> Iterator[Statement]:
        """Yield the statements that deny an action to somebody."""
        return (found for found in self.statements if not found.is_allow and found.covers(action))


def _listed(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(item).lower() if isinstance(item, bool) else str(item) for item in values]
