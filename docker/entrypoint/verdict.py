"""Decides how a job ended, from what became of its ranks, hosts and launchers."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set

from .errors import (
    DONE,
    FAILED,
    STOPPED,
    STOPPED_WITH_CHECKPOINT,
    Ending,
)
from .job import Job
from .processes import exit_text

_SIGTERM = (-15, 143)
"""A rank that does nothing on SIGTERM ends so; 143 where a shell or mpirun says it."""


class Failure(NamedTuple):
    """The first thing that went wrong."""

    rank: Optional[int]
    """Whose last lines tell more; None: the launcher's."""
    text: str
    by_stop: bool = False
    """A rank ended of the SIGTERM that it was sent."""


class Verdict:
    """Takes what happens in the order in which the head hears of it.

    Not by the hosts' clocks: they differ, and a host's news arrives sooner than other ranks can
    fail of the same cause.
    """

    def __init__(self, job: Job, launcher: str, launching_hosts: List[str]) -> None:
        self._job = job
        self._launcher = launcher
        self._launching = set(launching_hosts)
        self._codes: Dict[int, int] = {}
        self._started: Set[int] = set()
        self._host_of: Dict[int, str] = {}
        self._failure: Optional[Failure] = None
        self._launcher_failure: Optional[Failure] = None
        self._aborted: Optional[Failure] = None
        self._left_early: Optional[Failure] = None
        self.stop_asked_by: Optional[str] = None

    @property
    def all_ranks_ended(self) -> bool:
        return len(self._codes) == self._job.world_size

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.all_ranks_ended and not self._launching

    @property
    def missing_ranks(self) -> List[int]:
        """Return the ranks that have not started."""
        return sorted(set(range(self._job.world_size)) - self._started)

    @property
    def failure(self) -> Optional[Failure]:
        """Return what the job fails of as far as is known, None where it does not."""
        # A launcher's end may be heard before those of ranks on other hosts.
        left_early = None if self.all_ranks_ended else self._left_early
        return self._failure or self._launcher_failure or self._aborted or left_early

    @property
    def is_cause_known(self) -> bool:
        """Whether what is known of a failure is its cause, and not what came of it."""
        return self._failure is not None or self._launcher_failure is not None

    def rank_started(self, host: str, rank: int) -> None:
        self._started.add(rank)
        self._host_of[rank] = host

    def rank_ended(self, host: str, rank: int, code: int) -> None:
        self._codes[rank] = code
        if code in (DONE, STOPPED_WITH_CHECKPOINT):
            return
        text = f"rank {rank} on {host} {exit_text(code)}"
        if code not in _SIGTERM:
            self._fail(Failure(rank, text))
        elif self.stop_asked_by is not None:
            self._fail(Failure(rank, text, by_stop=True))
        elif self._aborted is None:
            # The launcher ends ranks so when another has failed: there is more to hear.
            self._aborted = Failure(rank, text)

    def rank_lost(self, host: str, rank: int) -> None:
        self._codes[rank] = FAILED
        text = f"rank {rank} on {host} is gone: what started it was killed{self._not_started()}"
        self._fail(Failure(rank, text))

    def host_lost(self, host: str, why: str) -> None:
        self._fail(Failure(None, f"host {host} is gone: {why}"))

    def host_failed(self, host: str, why: str) -> None:
        self._fail(Failure(None, f"host {host}: {why}"))

    def process_ended(self, host: str, name: str, code: int) -> None:
        self._launching.discard(host)
        if code == 0 and (self._launching or self.all_ranks_ended):
            return
        text = f"{name} on {host} {exit_text(code)}{self._not_started()}"
        failure = Failure(None, text)
        if code == 0:
            left = self._job.world_size - len(self._codes)
            ended = "" if self.missing_ranks else f" before {left} rank(s) had"
            self._left_early = Failure(None, text + ended)
        elif code < 0:
            # Nobody but a person or the kernel kills it.
            self._fail(failure)
        elif self._launcher_failure is None:
            # A rank's own end says more, and may be heard a moment later.
            self._launcher_failure = failure

    def hung(self, limit_s: float) -> None:
        hosts = ", ".join(sorted(self._launching))
        self._fail(
            Failure(
                None,
                f"every rank has ended, but {self._launcher} on {hosts} has not within "
                f"{limit_s:g} s",
            )
        )

    def not_launched(self, limit_s: float) -> None:
        ranks = ", ".join(map(str, self.missing_ranks[:16]))
        self._fail(
            Failure(None, f"{self._launcher} has not started ranks {ranks} in {limit_s:g} s")
        )

    def cut_short(self, when: str) -> None:
        """Ranks that were asked to stop had not at a time, and will be killed."""
        left = self._job.world_size - len(self._codes)
        self._fail(Failure(None, f"{left} rank(s) had not stopped {when}", True))

    def ending(self, outcome: Mapping[str, Any], *, has_outcome: bool) -> Ending:
        """Return how the job ended.

        Args:
            outcome: What the trainer itself says, empty where it says nothing.
            has_outcome: Whether this trainer says it in every case in which it is not killed.
        """
        failure = self.failure
        status = outcome.get("status")
        if failure is not None and not (failure.by_stop and self.stop_asked_by is not None):
            cause = f": {outcome.get('message')}" if status == "failed" else ""
            return Ending(FAILED, failure.text + cause)
        if failure is None and STOPPED_WITH_CHECKPOINT in self._codes.values():
            step = f" at step {outcome['step']}" if "step" in outcome else ""
            return Ending(
                STOPPED_WITH_CHECKPOINT,
                f"stopped{self._by_whom()}, with a checkpoint{step}; the same job, started again, "
                "goes on from there",
            )
        if failure is not None:
            return Ending(
                STOPPED,
                f"stopped{self._by_whom()}: {failure.text}; started again, the job goes on from "
                "the last checkpoint that it has, if any",
            )
        if has_outcome and status != "completed":
            return Ending(
                FAILED, f"every rank ended with 0, but its outcome is {dict(outcome) or 'missing'}"
            )
        return Ending(DONE, "completed")

    def _by_whom(self) -> str:
        return f" by SIGTERM to {self.stop_asked_by}" if self.stop_asked_by else ""

    def _not_started(self) -> str:
        left = len(self.missing_ranks)
        return f" before {left} of {self._job.world_size} ranks had started" if left else ""

    def _fail(self, failure: Failure) -> None:
        if self._failure is None:
            self._failure = failure
