"""What a check is, for those that ask AWS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from training.preflight.finding import Finding, Severity


class Check(ABC):
    """Judges a few values, which its fields are.

    A check never prints and does not stop at the first finding. What AWS refuses it raises
    (`AwsError`); whoever runs it turns that into a finding.
    """

    codes: ClassVar[Mapping[str, Severity]]
    """Of every finding that it can make."""
    actions: ClassVar[tuple[str, ...]]
    """IAM actions of the requests that it makes; all of them only read."""

    @property
    def subject(self) -> str:
        """What holds where nothing is found, as a sentence without its full stop."""
        return (type(self).__doc__ or type(self).__name__).partition("\n")[0].rstrip(".")

    @abstractmethod
    def find(self) -> Iterator[Finding]:
        """Yield what is found."""

    def found(self, code: str, path: str, message: str) -> Finding:
        """Return a finding of one of `codes`.

        Args:
            code: Which.
            path: The setting that is to be changed, or the name of the resource.
            message: What was found, what is allowed and what to do.
        """
        return Finding(code, self.codes[code], message, path)
