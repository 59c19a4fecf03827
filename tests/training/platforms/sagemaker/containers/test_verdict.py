"""What a script sees of the end of a job in containers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import pytest

from training.errors import Interrupted, JobCheckpointed, JobFailed, TrainingError
from training.platforms.sagemaker.containers.fleet import FleetEnd
from training.platforms.sagemaker.containers.verdict import conclude
from training.supervise import Stop


def ended(first: str | None = None, stopped: Stop | None = None, **codes: int) -> FleetEnd:
    by_host = {name.replace("_", "-"): code for name, code in codes.items()}
    last = {host: deque([f"last of {host}"]) for host in by_host}
    return FleetEnd(by_host, first, stopped, last)


def judge(
    end: FleetEnd, reasons: Mapping[str, str | None], *, checkpoint: str | None = None
) -> None:
    conclude(end, reasons, run_name="run-7", checkpoint=checkpoint)


def test_all_zero_is_success() -> None:
    judge(ended(algo_1=0, algo_2=0), {})


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
        judge(end, {"algo-1": "something"})


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (
            ended(None, Stop.SIGNAL, algo_1=137, algo_2=137),
            "by a signal, at once; the last checkpoint is /log/step-10.pt; run the same command "
            "with --resume --name run-7 to go on",
        ),
        (
            ended(None, Stop.TIME_LIMIT, algo_1=75),
            "by its time limit, with a checkpoint (/log/step-10.pt); run the same command with "
            "--resume --name run-7 to go on",
        ),
    ],
)
def test_a_checkpoint_that_is_there_is_named_however_the_job_was_stopped(
    end: FleetEnd, said: str
) -> None:
    with pytest.raises(JobCheckpointed) as caught:
        judge(end, {}, checkpoint="/log/step-10.pt")
    assert str(caught.value) == said


def test_a_checkpoint_does_not_hide_a_failure() -> None:
    with pytest.raises(JobFailed, match="the job failed: algo-1: rank 0"):
        judge(ended("algo-1", None, algo_1=1), {"algo-1": "rank 0"}, checkpoint="/log/step-10.pt")


def test_the_reason_is_that_of_the_host_that_failed_first() -> None:
    with pytest.raises(JobFailed) as caught:
        judge(
            ended("algo-2", None, algo_1=1, algo_2=1), {"algo-1": "peer lost", "algo-2": "rank 1"}
        )
    assert str(caught.value) == "the job failed: algo-2: rank 1"


def test_a_host_that_was_killed_is_the_reason_whatever_its_peers_say() -> None:
    with pytest.raises(JobFailed) as caught:
        judge(ended("algo-2", None, algo_1=1, algo_2=137), {"algo-1": "connection lost"})
    assert str(caught.value) == (
        "the job failed: algo-2: the container was ended by SIGKILL (exit code 137), as where "
        "memory runs out\nLast lines of algo-2:\n  last of algo-2"
    )


def test_a_host_without_a_word_leaves_it_to_the_one_that_has_one() -> None:
    with pytest.raises(JobFailed, match="the job failed: algo-1: rank 0 was killed"):
        judge(ended("algo-2", None, algo_1=1, algo_2=1), {"algo-1": "rank 0 was killed"})
