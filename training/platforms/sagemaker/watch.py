"""Watches one training job: tells its stages, and shows the lines of all its hosts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from training.platforms.common.patience import Patience, Timer
from training.platforms.sagemaker.find_job import find_job
from training.platforms.sagemaker.log_lines import Line, Weave
from training.platforms.sagemaker.log_reader import LogReader
from training.platforms.sagemaker.state import JobState, Transition

LOOK_S = 5.0
"""Between two looks at the job and its lines. AWS tells no rate of DescribeTrainingJob; its own SDK
asks as often: https://github.com/aws/sagemaker-python-sdk/blob/v2.257.1/src/sagemaker/session.py
"""

QUIET_LOOKS = 3
"""Looks without a new line after which a job that has just ended will have no more: what it wrote
last reaches CloudWatch some seconds later."""

LONG_ENDED_S = 120.0
"""Of a job that ended so long before it was looked at, all lines have arrived."""

LAST_LINES = 15
"""How many lines of a failed host a message shows."""

Tell = Callable[[str], None]
"""Takes a line for the user."""


class Watch:
    """What of a job has been shown."""

    def __init__(
        self, job: JobState, *, patience: Patience, show: Tell, tell: Tell, timer: Timer
    ) -> None:
        """Begin with a job's present state.

        Args:
            job: As it was found.
            patience: Makes the requests.
            show: Takes each line of the job.
            tell: Takes a line about the job.
            timer: Tells the time and waits.
        """
        self._job = job
        self._patience = patience
        self._show = show
        self._tell = tell
        self._timer = timer
        self._reader = LogReader(job.name, hosts=job.instance_count, patience=patience, timer=timer)
        self._weave = Weave(hosts=job.instance_count)
        self._stages_told = 0
        self._last_stage: Transition | None = None
        self._last: deque[Line] = deque(maxlen=LAST_LINES)
        self._last_of: dict[str, deque[Line]] = {}

    def until_the_end(self) -> JobState:
        """Show lines and stages until the job has ended and all has arrived."""
        self._tell_stages()
        may_write_yet = not self._ended_long_ago()
        while not self._job.has_ended:
            self._look_at_lines()
            self._timer.sleep(LOOK_S)
            self._job = find_job(self._patience, self._job.name)
            self._tell_stages()
        if may_write_yet:
            self._look_at_what_comes_late()
        # The last look, and what was held back for the order.
        self.what_is_there()
        self._tell_end()
        return self._job

    def what_is_there(self) -> None:
        """Show the lines that have arrived by now."""
        self._look_at_lines(is_last=True)
        self._show_all(self._weave.rest())

    def last_lines(self, host: str | None) -> list[str]:
        """Return what a host said last; all hosts, where it is None or has said nothing."""
        lines = self._last_of.get(host, self._last) if host else self._last
        return [line.text for line in lines]

    def _look_at_lines(self, *, is_last: bool = False) -> bool:
        """Show what has come since the last look; return whether anything has."""
        is_new = False
        for part in self._reader.look(is_last=is_last):
            is_new = True
            self._show_all(self._weave.add(part.lines, whole_until_ms=part.whole_until_ms))
        self._show_all(self._weave.settle())
        return is_new

    def _ended_long_ago(self) -> bool:
        ended = self._job.ended
        return ended is not None and self._timer.now() - ended.timestamp() > LONG_ENDED_S

    def _look_at_what_comes_late(self) -> None:
        quiet = 0
        while quiet < QUIET_LOOKS:
            quiet = 0 if self._look_at_lines() else quiet + 1
            self._timer.sleep(LOOK_S)

    def _show_all(self, lines: Sequence[Line]) -> None:
        for line in lines:
            self._last.append(line)
            self._last_of.setdefault(line.host, deque(maxlen=LAST_LINES)).append(line)
            is_only = self._job.instance_count == 1
            self._show(line.text if is_only else f"[{line.host}] {line.text}")

    def _tell_stages(self) -> None:
        """Tell each stage once, and again where what SageMaker says of the last one changes."""
        stages = self._job.transitions
        told, self._stages_told = self._stages_told, len(stages)
        new = stages[told:]
        if not new and stages and stages[-1] != self._last_stage:
            new = stages[-1:]
        for stage in new:
            at = stage.start.astimezone().strftime("%H:%M:%S")
            self._tell(
                f"{at} {stage.status}: {stage.message}" if stage.message else f"{at} {stage.status}"
            )
            self._last_stage = stage

    def _tell_end(self) -> None:
        if billing := self._job.billing():
            self._tell(billing)
        if self._job.model is not None:
            self._tell(f"model: {self._job.model}")
