"""What was dropped and changed while a copy was made: every single thing, by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

PLACES_SHOWN = 3

Action = Literal["dropped", "changed"]


@dataclass(frozen=True, order=True)
class Kind:
    """What was done to what, and why or how."""

    action: Action
    subject: Literal["picture", "annotation", "category", "split", "file"]
    reason: str


@dataclass
class Ledger:
    """One split's, or the set's."""

    name: str
    """The split's, for its lines."""
    entries: dict[Kind, list[str]] = field(default_factory=dict)
    """Kind to the places in the source."""

    def dropped(self, subject: Any, place: str, reason: str) -> None:
        self._add(Kind("dropped", subject, reason), place)

    def changed(self, subject: Any, place: str, how: str) -> None:
        self._add(Kind("changed", subject, how), place)

    def _add(self, kind: Kind, place: str) -> None:
        self.entries.setdefault(kind, []).append(place)

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {
                "split": self.name,
                "action": kind.action,
                "subject": kind.subject,
                "reason": kind.reason,
                "count": len(places),
                "places": places,
            }
            for kind, places in self._sorted()
        ]

    def lines(self) -> Iterator[str]:
        """Yield a line a kind, what was dropped first."""
        for kind, places in self._sorted():
            noun = _plural(kind.subject) if len(places) != 1 else kind.subject
            shown = "; ".join(places[:PLACES_SHOWN])
            more = len(places) - PLACES_SHOWN
            rest = f"; and {more:,} more" if more > 0 else ""
            yield (
                f"{self.name}: {kind.action} {len(places):,} {noun} ({kind.reason}): {shown}{rest}"
            )

    def _sorted(self) -> list[tuple[Kind, list[str]]]:
        # "dropped" comes before "changed".
        return sorted(self.entries.items(), key=lambda one: (one[0].action != "dropped", one[0]))


def _plural(noun: str) -> str:
    return "categories" if noun == "category" else f"{noun}s"
