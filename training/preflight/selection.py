"""Which findings the user wants to hear of."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from training.errors import UsageError
from training.preflight.check import Check
from training.preflight.finding import Finding

_MOST_NEAR = 5
"""How many codes a message names that is about another."""


@dataclass(frozen=True)
class Selection:
    """Codes to look for, and codes to leave out."""

    only: frozenset[str] = frozenset()
    """Nothing here means all."""
    suppressed: frozenset[str] = frozenset()

    @classmethod
    def parse(
        cls, only: Collection[str], suppressed: Collection[str], known: Collection[str]
    ) -> Selection:
        """Return what the options say.

        Raises:
            UsageError: A code is not known.
        """
        for option, codes in (("--only", only), ("--suppress", suppressed)):
            for code in codes:
                if code not in known:
                    raise UsageError(_unknown(option, code, known))
        return cls(frozenset(only), frozenset(suppressed))

    def of_checks(self, checks: Iterable[Check]) -> list[Check]:
        """Return the checks that can find something wanted."""
        return [check for check in checks if any(map(self._wants, check.codes))]

    def of_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that are wanted; that a check was not made is told, too."""
        return list(self._filter(findings))

    def _filter(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        from training.preflight.side_by_side import CODES

        for finding in findings:
            if finding.code in CODES:
                if finding.code not in self.suppressed:
                    yield finding
            elif self._wants(finding.code):
                yield finding

    def _wants(self, code: str) -> bool:
        return (not self.only or code in self.only) and code not in self.suppressed


def _unknown(option: str, code: str, known: Collection[str]) -> str:
    containing = [name for name in sorted(known) if code and code.lower() in name]
    close = difflib.get_close_matches(code.lower(), sorted(known), n=3)
    nearest = list(dict.fromkeys([*close, *containing]))[:_MOST_NEAR]
    hint = f"did you mean {' or '.join(nearest)}? " if nearest else ""
    return (
        f"{option} {code}: there is no finding of that name; {hint}docs/reference.md lists all of "
        "them"
    )
