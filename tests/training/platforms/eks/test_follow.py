"""Following a job: all lines once and in order, whatever breaks in between, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.planning import request
from tests.training.platforms.eks.small_operator import SmallOperator
from tests.waiting import wait_for
from training.errors import Interrupted, JobCheckpointed, JobFailed
from training.kubernetes.errors import KubernetesUnreachable
from training.platforms.common.patience import Timer
from training.platforms.eks import follow as following
from training.platforms.eks.connection import Connection
from training.platforms.eks.follow import follow
from training.platforms.eks.launcher_log import LauncherLog
from training.platforms.eks.submission import submit


@dataclass
class Log:
    """What a reading of a log yields before its connection breaks."""

    lines: Sequence[str]
    breaks: bool

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""

    def __iter__(self) -> Iterator[str]:
        yield from self.lines
        if self.breaks:
            raise KubernetesUnreachable("connection reset")

    def end(self) -> None:
        """Nothing is open."""


@dataclass
class Logs:
    """kubectl, whose connections break after some lines, and which goes back to whole seconds."""

    all_lines: Sequence[str]
    lengths: list[int]
    asked: list[str | None] = field(default_factory=list)

    def log(self, _pod: str, _container: str, *, since_time: str | None, **_: object) -> Log:
        self.asked.append(since_time)
        second = (since_time or "")[:19]
        found = [line for line in self.all_lines if line[:19] >= second]
        if not self.lengths:
            return Log(found, breaks=False)
        return Log(found[: self.lengths.pop(0)], breaks=True)


LINES = [
    f"2026-01-02T03:04:{second:02d}.{part:09d}Z line {second}.{part}.{number}"
    for second in range(3)
    for part in (0, 5)
    for number in range(3)
]


@pytest.mark.parametrize("lengths", [[0], [1, 1], [4, 2, 9], [7, 7], [17], [2] * 4])
def test_a_broken_connection_loses_no_line_and_gives_none_twice(lengths: list[int]) -> None:
    shown: list[str] = []
    logs = Logs(LINES, list(lengths))
    log = LauncherLog(logs, "launcher", shown.append)  # type: ignore[arg-type]
    for _ in lengths:
        with pytest.raises(KubernetesUnreachable):
            log.read(follow=True)
    log.read(follow=True)
    assert shown == [line.partition(" ")[2] for line in LINES]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "LOOK_S", 0.5)
    monkeypatch.setattr(following, "LINES_S", 0.05)


def started(cluster: KubernetesServer, connection: Connection) -> None:
    submit(connection, request(name="job-1"))
    wait_for(lambda: len(cluster.names("pods")) == 3, "pods")


def say(cluster: KubernetesServer, *lines: str) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
    cluster.say("job-1-launcher-a0", "launcher", *(f"{now} {line}" for line in lines))


def watched(
    connection: Connection, show: Callable[[str], None], told: list[str]
) -> tuple[threading.Thread, list[BaseException]]:
    """Follow in another thread; return it, and what it will have raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            follow(connection, "job-1", show, tell=told.append)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, raised


@pytest.mark.usefixtures("quick")
def test_lines_come_live_and_an_outage_of_the_api_is_borne(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    started(cluster, connection)
    shown: list[str] = []
    told: list[str] = []
    thread, raised = watched(connection, shown.append, told)
    say(cluster, "step 1", "[rank 3] hello")
    first = ["entrypoint: both workers are there", "step 1", "[rank 3] hello"]
    wait_for(lambda: shown == first, "lines")
    cluster.refusals[("get", "mpijobs")] = (503, "ServiceUnavailable", "EOF")
    wait_for(lambda: any("The job goes on meanwhile" in line for line in told), "outage")
    say(cluster, "step 2")
    wait_for(lambda: shown[-1] == "step 2", "line")
    cluster.refusals.clear()
    wait_for(lambda: "the cluster answers again" in told, "its end")
    say(cluster, "step 3")
    operator.end("job-1", code=0, message="completed")
    thread.join(30)
    assert (raised, shown) == ([], [*first, "step 2", "step 3"])
    assert told[0] == "job-1: running, 2 of 2 workers run"


@pytest.mark.usefixtures("quick")
def test_a_job_that_fails_is_told_with_its_last_lines(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    started(cluster, connection)
    say(cluster, *(f"line {number}" for number in range(30)))
    operator.end("job-1", code=1, message="rank 3 ended with 1: CUDA error")
    with pytest.raises(JobFailed) as failed:
        follow(connection, "job-1", lambda _: None, tell=lambda _: None)
    assert str(failed.value).startswith(
        "job-1 failed: job-1-launcher-a0: exit code 1 (rank 3 ended with 1: CUDA error) "
        "(exit code 1)\nIts last lines:\n  line 15\n"
    )
    assert str(failed.value).endswith("  line 29")


@pytest.mark.soak
@pytest.mark.usefixtures("quick")
def test_a_job_that_somebody_stops_ends_the_watching_with_what_it_left(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    from training.platforms.eks.stopping import stop

    started(cluster, connection)
    thread, raised = watched(connection, lambda _: None, [])
    stop(connection, "job-1", tell=lambda _: None)
    thread.join(30)
    (error,) = raised
    assert isinstance(error, JobCheckpointed)
    assert "with a checkpoint at step 40; to go on: the same launch command with --resume" in str(
        error
    )


def test_ctrl_c_ends_the_watching_alone(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    started(cluster, connection)

    def interrupt() -> float:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"watching; job-1 goes on. Watch it again: "):
        follow(connection, "job-1", print, tell=lambda _: None, timer=Timer(now=interrupt))
    assert "job-1" in cluster.names("mpijobs")
