"""What the caller of `health` asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError

_KEYS = ("all_reduce", "timeout_s", "gpus", "efa_interfaces", "image")

# An image's name, as docker takes it: no blank, no option.
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}")

SHORTEST_S, LONGEST_S = 20, 1500


@dataclass(frozen=True)
class HealthRequest:
    """What is looked at, and for how long."""

    all_reduce: bool = True
    timeout_s: float = 120.0
    """For everything."""
    gpus: dict[str, int] = field(default_factory=dict)
    """Role to how many its instance type has: the caller has the table."""
    efa_interfaces: dict[str, int] = field(default_factory=dict)
    """Role to how many the cluster gives it."""
    image: str | None = None
    """What the all-reduce runs in, where jobs run in images."""

    @property
    def check_s(self) -> float:
        """The limit of each check of a node."""
        return min(20.0, self.timeout_s / 4)

    @classmethod
    def read(cls, request: dict[str, Any]) -> HealthRequest:
        """Read a request.

        Raises:
            UsageError: A key is not known, or its value is not as it must be.
        """
        unknown = sorted(set(request) - set(_KEYS))
        if unknown:
            raise UsageError(f"health: {unknown[0]}: is not one of {', '.join(_KEYS)}")
        made = cls(**request)
        if type(made.all_reduce) is not bool:
            raise _wrong("all_reduce", made.all_reduce, "true or false")
        if (
            type(made.timeout_s) not in (int, float)
            or not SHORTEST_S <= made.timeout_s <= LONGEST_S
        ):
            raise _wrong("timeout_s", made.timeout_s, f"seconds, {SHORTEST_S} to {LONGEST_S}")
        if made.image is not None and not (
            isinstance(made.image, str) and _IMAGE.fullmatch(made.image)
        ):
            raise _wrong("image", made.image, "registry/repository:tag")
        for key in ("gpus", "efa_interfaces"):
            value = getattr(made, key)
            if not isinstance(value, dict) or not all(
                role in ("head", "worker") and type(count) is int and 0 <= count <= 64
                for role, count in value.items()
            ):
                raise _wrong(key, value, '{"head": 0 to 64, "worker": 0 to 64}')
        return made


def _wrong(key: str, value: Any, wanted: str) -> UsageError:
    return UsageError(f"health: {key}: is {str(value)[:80]!r}, wanted {wanted}")
