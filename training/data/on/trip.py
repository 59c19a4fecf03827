"""A copy that is planned somewhere else, and what each place's module has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from training.data.on.errand import Errand
from training.outputs import Contract, Outputs

if TYPE_CHECKING:
    from training.platforms.api import Cost
    from training.preflight.check import Check
    from training.preflight.job.whereabouts import Whereabouts

Show = Callable[[str], None]
"""Takes a line of the run."""


@dataclass(frozen=True, kw_only=True)
class Trip:
    """A run as one place would have it."""

    where: str
    """For people."""
    name: str
    request: Mapping[str, Any]
    """Exactly what is sent."""
    cost: Cost

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "where": self.where,
            "request": dict(self.request),
            "cost": self.cost.to_json(),
        }

    def price(self) -> str:
        """Return what it costs at most."""
        most = self.cost.maximum
        return "unknown" if most is None else f"at most {most:,.2f} {self.cost.currency}"


class Runner(Protocol):
    """A module of this package that is named after a place."""

    READS: tuple[type[Contract], ...]
    """The stacks that its plans need, beside StorageStack and RegistryStack."""

    def plan(self, errand: Errand, outputs: Outputs) -> Trip:
        """Return what would be sent; nothing happens.

        Raises:
            UsageError: The place cannot run it, or an output is missing.
        """

    def region(self, outputs: Outputs) -> str | None:
        """Return where it would run; None where that is the caller's own."""

    def checks(self, errand: Errand, trip: Trip, place: Whereabouts) -> Iterator[Check]:
        """Yield what is to be asked before."""

    def send(self, trip: Trip, outputs: Outputs, show: Show) -> None:
        """Start it, once, and follow it to its end.

        Raises:
            TrainingError: It ended otherwise than well; Interrupted where the user stopped
                watching: then it goes on.
        """
