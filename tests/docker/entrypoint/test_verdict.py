"""How a job ended, from what the head heard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from entrypoint.errors import Ending
from entrypoint.verdict import Verdict
from hypothesis import given
from hypothesis import strategies as st

from tests.docker.entrypoint.test_commands import JOB

TWO = JOB._replace(processes_per_host=1)
COMPLETED = {"status": "completed", "step": 8}
SAVED = {"status": "checkpointed", "step": 5}
KILLED = "was killed by SIGKILL (the kernel kills so when memory runs out)"
GO_ON = "started again, the job goes on from the last checkpoint that it has, if any"


def verdict(*events: tuple[object, ...]) -> Verdict:
    """Return a verdict on two ranks, of which each event is a method and its arguments."""
    made = Verdict(TWO, "mpirun", ["algo-1"])
    made.rank_started("algo-1", 0)
    made.rank_started("algo-2", 1)
    for name, *arguments in events:
        if name == "stop":
            made.stop_asked_by = str(arguments[0])
        else:
            method: Callable[..., None] = getattr(made, str(name))
            method(*arguments)
    return made


def both(code: int) -> list[tuple[object, ...]]:
    return [("rank_ended", "algo-1", 0, code), ("rank_ended", "algo-2", 1, code)]


LAUNCHER_ENDED = ("process_ended", "algo-1", "mpirun", 0)


@pytest.mark.parametrize(
    ("events", "outcome", "code", "reason"),
    [
        ([*both(0), LAUNCHER_ENDED], COMPLETED, 0, "completed"),
        # mpirun's end may be heard before those of ranks on other hosts.
        ([LAUNCHER_ENDED, *both(0)], COMPLETED, 0, "completed"),
        (
            [LAUNCHER_ENDED],
            COMPLETED,
            1,
            "mpirun on algo-1 ended with exit code 0 before 2 rank(s) had",
        ),
        # mpirun says 0, and a rank has failed.
        (
            [("rank_ended", "algo-2", 1, 1), ("rank_ended", "algo-1", 0, 0), LAUNCHER_ENDED],
            COMPLETED,
            1,
            "rank 1 on algo-2 ended with exit code 1",
        ),
        # The first to fail knows the cause.
        (
            [("rank_ended", "algo-2", 1, -9), ("rank_ended", "algo-1", 0, 1)],
            {},
            1,
            f"rank 1 on algo-2 {KILLED}",
        ),
        (
            [("rank_ended", "algo-1", 0, 1)],
            {"status": "failed", "message": "loss is not finite"},
            1,
            "rank 0 on algo-1 ended with exit code 1: loss is not finite",
        ),
        # mpirun's complaint may be heard before the rank's own end.
        (
            [("process_ended", "algo-1", "mpirun", 1), ("rank_ended", "algo-2", 1, 3)],
            {},
            1,
            "rank 1 on algo-2 ended with exit code 3",
        ),
        ([("process_ended", "algo-1", "mpirun", -9)], {}, 1, f"mpirun on algo-1 {KILLED}"),
        (
            [("rank_lost", "algo-2", 1)],
            {},
            1,
            "rank 1 on algo-2 is gone: what started it was killed",
        ),
        ([("host_lost", "algo-2", "closed")], {}, 1, "host algo-2 is gone: closed"),
        ([("host_failed", "algo-2", "why")], {}, 1, "host algo-2: why"),
        (
            [*both(0), LAUNCHER_ENDED],
            {},
            1,
            "every rank ended with 0, but its outcome is missing",
        ),
        (
            [*both(0), ("hung", 60)],
            COMPLETED,
            1,
            "every rank has ended, but mpirun on algo-1 has not within 60 s",
        ),
        (
            [("stop", "algo-2"), *both(75), LAUNCHER_ENDED],
            SAVED,
            75,
            "stopped by SIGTERM to algo-2, with a checkpoint at step 5; the same job, started "
            "again, goes on from there",
        ),
        (
            [("stop", "algo-2"), ("rank_ended", "algo-2", 1, -15)],
            {},
            143,
            f"stopped by SIGTERM to algo-2: rank 1 on algo-2 was killed by SIGTERM; {GO_ON}",
        ),
        (
            [("stop", "algo-1"), ("cut_short", "100 s later")],
            {},
            143,
            f"stopped by SIGTERM to algo-1: 2 rank(s) had not stopped 100 s later; {GO_ON}",
        ),
        # Asked to stop, but it fails of something else.
        (
            [("stop", "algo-1"), ("rank_ended", "algo-2", 1, 1)],
            {},
            1,
            "rank 1 on algo-2 ended with exit code 1",
        ),
        # mpirun ends the others so when it cannot start one.
        (
            [("rank_ended", "algo-1", 0, -15), ("process_ended", "algo-1", "mpirun", 1)],
            {},
            1,
            "mpirun on algo-1 ended with exit code 1",
        ),
        # SIGTERM from nobody that we know of is a failure.
        (
            [("rank_ended", "algo-2", 1, -15)],
            {},
            1,
            "rank 1 on algo-2 was killed by SIGTERM",
        ),
        # Asked to stop at the very end.
        ([("stop", "algo-1"), *both(0), LAUNCHER_ENDED], COMPLETED, 0, "completed"),
    ],
)
def test_the_ending_follows_from_what_was_heard(
    events: list[tuple[object, ...]], outcome: dict[str, object], code: int, reason: str
) -> None:
    assert verdict(*events).ending(outcome, has_outcome=True) == Ending(code, reason)


def test_a_launcher_that_ends_before_the_ranks_says_how_many_are_missing() -> None:
    made = Verdict(TWO, "mpirun", ["algo-1"])
    made.rank_started("algo-1", 0)
    made.process_ended("algo-1", "mpirun", 0)
    assert made.failure
    assert made.ending({}, has_outcome=True).reason == (
        "mpirun on algo-1 ended with exit code 0 before 1 of 2 ranks had started"
    )


def test_ranks_that_were_never_started_are_named() -> None:
    made = Verdict(TWO, "mpirun", ["algo-1"])
    made.rank_started("algo-1", 0)
    made.not_launched(600)
    assert made.ending({}, has_outcome=True) == Ending(1, "mpirun has not started ranks 1 in 600 s")


def test_a_trainer_that_leaves_no_outcome_is_judged_by_its_ranks() -> None:
    made = verdict(*both(0), LAUNCHER_ENDED)
    assert made.ending({}, has_outcome=False) == Ending(0, "completed")


def test_with_torchrun_every_host_has_a_launcher_to_wait_for() -> None:
    made = Verdict(TWO, "torchrun", ["algo-1", "algo-2"])
    for rank, host in enumerate(TWO.hosts):
        made.rank_started(host, rank)
    made.process_ended("algo-2", "torchrun", 0)
    assert not made.failure
    for rank, host in enumerate(TWO.hosts):
        made.rank_ended(host, rank, 0)
    assert not made.is_over
    made.process_ended("algo-1", "torchrun", 0)
    assert made.is_over


@given(codes=st.permutations([0, 0, 0, 5, -9]))
def test_no_order_of_ends_hides_a_failed_rank(codes: list[int]) -> None:
    job = JOB._replace(processes_per_host=5, hosts=["algo-1"], current_host="algo-1")
    made = Verdict(job, "mpirun", ["algo-1"])
    for rank, code in enumerate(codes):
        made.rank_started("algo-1", rank)
        made.rank_ended("algo-1", rank, code)
    made.process_ended("algo-1", "mpirun", 0)
    first = next(rank for rank, code in enumerate(codes) if code)
    ending = made.ending(COMPLETED, has_outcome=True)
    assert ending.code == 1
    assert ending.reason.startswith(f"rank {first} on algo-1 ")
