"""Reads what a job has written, from its file on EFS, by way of the head node."""

from __future__ import annotations

from collections.abc import Callable

from training.errors import AwsError
from training.platforms.ec2.head import Head

FULL = 8000
"""Characters: an answer that long is not all there is. Shorter ones cost one request a look."""


class Output:
    """Where a job's output was read up to.

    A place moves on only with the answer that has the text, so that no line is lost or given twice
    where an answer is. The file stays when the head node is replaced.
    """

    def __init__(self, head: Head, job_name: str, show: Callable[[str], None]) -> None:
        self._head = head
        self._job_name = job_name
        self._show = show
        self._offset = 0
        self._rest = ""
        """The beginning of a line whose end was not written yet."""

    @property
    def has_begun(self) -> bool:
        """Whether some of it was shown."""
        return self._offset > 0

    def look(self, *, is_last: bool = False) -> None:
        """Show the lines that came since the last look.

        Args:
            is_last: There will be no other look: show all that is there by now, and a line without
                an end, too. What a job writes meanwhile is left: it may write faster than this
                reads.

        Raises:
            UsageError: There is no such job.
            AwsError: They cannot be read.
        """
        size: int | None = None
        while True:
            answer = self._head.ask("logs", {"name": self._job_name, "offset": self._offset})
            try:
                text, after = str(answer["text"]), int(answer["next"])
                # Nodes of before do not tell it.
                size = int(answer.get("size", -1)) if size is None else size
            except (KeyError, TypeError, ValueError) as error:
                raise AwsError(
                    f"the head node's answer to logs is of a form that is not known ({error!r})"
                ) from error
            is_over = after <= self._offset or bool(answer.get("done"))
            self._offset = after
            self._take(text)
            if is_over or (0 <= size <= after if is_last else len(text) < FULL):
                break
        if is_last and self._rest:
            self._show(self._rest)
            self._rest = ""

    def _take(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._show(line.removesuffix("\r"))
