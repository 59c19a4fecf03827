"""How the faults of one kind become one finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from training.data.rules import Rule
from training.preflight.finding import Finding, Severity

PLACES_SHOWN = 3
PLACES_KEPT = 1000
"""Of each kind of fault, for the report as JSON."""


@dataclass
class Fault:
    """All faults of one kind.

    Attributes:
        count: How many there are.
        places: The first of them, up to `PLACES_KEPT`.
        by_picture: How many there are in each picture, by file_name.
    """

    count: int = 0
    places: list[str] = field(default_factory=list)
    by_picture: Counter[str] = field(default_factory=Counter)


@dataclass
class Tally:
    """Counts faults by rule and keeps the first places of each."""

    path: str
    """The finding's path: an annotation file or a picture folder."""
    skip_bad_annotations: bool
    faults: dict[Rule, Fault] = field(default_factory=dict)

    def add(self, rule: Rule, place: str, picture: str | None = None) -> None:
        """Count a fault.

        Args:
            rule: Its kind.
            place: Where it is, and the values that are wrong.
            picture: The file_name of the picture that it is in, if it is known.
        """
        fault = self.faults.get(rule)
        if fault is None:
            fault = self.faults[rule] = Fault()
        fault.count += 1
        if len(fault.places) < PLACES_KEPT:
            fault.places.append(place)
        if picture is not None:
            fault.by_picture[picture] += 1

    def findings(self) -> Iterator[Finding]:
        """Yield one finding a rule, in the order in which they were first met."""
        for rule, fault in self.faults.items():
            places = fault.places[:PLACES_SHOWN]
            rest = f"; and {fault.count - len(places):,} more" if fault.count > len(places) else ""
            yield Finding(
                code=rule.code,
                severity=self.severity(rule),
                message=f"{fault.count:,} {rule.what}: {'; '.join(places)}{rest}. {rule.remedy}"
                + self._what_training_does(rule),
                path=self.path,
            )

    def severity(self, rule: Rule) -> Severity:
        return "warning" if rule.keeps_out and self.skip_bad_annotations else rule.severity

    def _what_training_does(self, rule: Rule) -> str:
        if rule.when_skipped is None:
            return ""
        if self.skip_bad_annotations:
            return f". {rule.when_skipped}"
        return ", or let training go on without them: bad_annotations=skip"
