"""What a script sees of the end of a job in containers."""

from __future__ import annotations

from collections import deque

import pytest

from training.errors import Interrupted, JobCheckpointed, JobFailed, TrainingError
from training.platforms.sagemaker.containers.fleet import FleetEnd
from training.platforms.sagemaker.containers.verdict import conclude
from training.supervise import Stop


def ended(first: str | None = None, stopped: Stop | None = None, **codes: int) -> FleetEnd:
    by_host = {name.replace("_", "-"): code for name, code in codes.items()}
    last = {host: deque([f"last of {host}"]) for host in by_host}
    return FleetEnd(by_host, first, stopped, last)


def test_all_zero_is_success() -> None:
    conclude(ended(algo_1=0, algo_2=0), {})


@pytest.mark.parametrize(
    ("end", "error", "text"),
    [
        (ended(None, Stop.SIGNAL, algo_1=75, algo_2=75), JobCheckpointed, "by a signal, with"),
        (ended(None, Stop.TIME_LIMIT, algo_1=75), JobCheckpointed, "by its time limit, with"),
        (ended("algo-1", None, algo_1=75), JobCheckpointed, "by the trainer, with"),
        (ended(None, Stop.SIGNAL, algo_1=143, algo_2=143), Interrupted, "before there was"),
        (ended(None, Stop.TIME_LIMIT, algo_1=137), Interrupted, "by its time limit, before"),
    ],
)
def test_a_job_that_was_stopped(end: FleetEnd, error: type[TrainingError], text: str) -> None:
    with pytest.raises(error, match=text):
        conclude(end, {"algo-1": "something"})


def test_the_reason_is_that_of_the_host_that_failed_first() -> None:
    with pytest.raises(JobFailed) as caught:
        conclude(
            ended("algo-2", None, algo_1=1, algo_2=1), {"algo-1": "peer lost", "algo-2": "rank 1"}
        )
    assert str(caught.value) == "the job failed: algo-2: rank 1"


def test_a_host_that_was_killed_is_the_reason_whatever_its_peers_say() -> None:
    with pytest.raises(JobFailed) as caught:
        conclude(ended("algo-2", None, algo_1=1, algo_2=137), {"algo-1": "connection lost"})
    assert str(caught.value) == (
        "the job failed: algo-2: the container was ended by SIGKILL (exit code 137), as where "
        "memory runs out\nLast lines of algo-2:\n  last of algo-2"
    )


def test_a_host_without_a_word_leaves_it_to_the_one_that_has_one() -> None:
    with pytest.raises(JobFailed, match="the job failed: algo-1: rank 0 was killed"):
        conclude(ended("algo-2", None, algo_1=1, algo_2=1), {"algo-1": "rank 0 was killed"})
