"""Every line of every host once, in its order, however CloudWatch hands them out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.platforms.sagemaker.fake_aws import (
    START_S,
    FakeClients,
    FakeLogs,
    FakeSageMaker,
    Written,
    patience,
    refused,
)
from training.aws.errors import AwsRefused, AwsUnreachable
from training.platforms.sagemaker.log_lines import Line, Weave
from training.platforms.sagemaker.log_reader import LogReader

JOB = "job-1"
LOOK_S = 5.0
START_MS = int(START_S * 1000)
LOOKS = 6


def stream(host: int, start: int = 0) -> str:
    return f"{JOB}/algo-{host}-170000000{start}"


def reader_of(logs: FakeLogs, told: list[str], *, hosts: int) -> LogReader:
    clock = logs.clock
    clients = FakeClients(FakeSageMaker(clock, []), logs)
    return LogReader(JOB, hosts=hosts, patience=patience(clients, clock, told), timer=clock.timer)


def read_all(logs: FakeLogs, *, hosts: int) -> list[Line]:
    """Read at the pace of `follow`, until all has long arrived."""
    reader, weave, shown = reader_of(logs, [], hosts=hosts), Weave(hosts=hosts), []
    begun_s = logs.clock.now_s
    for look in range(LOOKS + 2):
        logs.clock.now_s = max(logs.clock.now_s, begun_s + look * LOOK_S)
        for part in reader.look():
            shown += weave.add(part.lines, whole_until_ms=part.whole_until_ms)
        shown += weave.settle()
    return shown + weave.rest()


def sometimes(true_in: int, numbers: Sequence[int]) -> Callable[[], bool]:
    """Return what says yes now and then, by drawn numbers, and no in the end."""
    left = list(numbers)
    return lambda: bool(left) and left.pop() % true_in == 0


@st.composite
def hosts_lines(draw: st.DrawFn) -> Mapping[str, list[Written]]:
    """Draw the lines of some hosts: each host's times and arrivals never go back."""
    lines: dict[str, list[Written]] = {}
    for host in range(1, draw(st.integers(1, 3)) + 1):
        moments = draw(
            st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, LOOKS - 1)), max_size=12)
        )
        times = sorted(time for time, _ in moments)
        arrivals = sorted(look for _, look in moments)
        lines[stream(host)] = [
            Written(START_MS + time, f"{host}:{number}", START_S + look * LOOK_S)
            for number, (time, look) in enumerate(zip(times, arrivals, strict=True))
        ]
    return lines


@settings(max_examples=200)
@given(
    lines=hosts_lines(),
    page_sizes=st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any),
    numbers=st.lists(st.integers(0, 11), max_size=60),
)
def test_every_line_is_shown_once_in_the_order_of_its_host(
    lines: Mapping[str, list[Written]], page_sizes: list[int], numbers: list[int]
) -> None:
    loses, expires = sometimes(4, numbers), sometimes(3, numbers)

    def fail() -> None:
        if loses():
            raise AwsUnreachable("lost")

    logs = FakeLogs(Clockwork(), lines, page_sizes, fails=fail, expires=expires)
    shown = read_all(logs, hosts=len(lines))
    for name, written in lines.items():
        host = name.rpartition("/")[2].rpartition("-")[0]
        assert [line.text for line in shown if line.host == host] == [line.text for line in written]
    assert len(shown) == sum(map(len, lines.values()))


@settings(max_examples=200)
@given(
    moments=st.lists(
        st.tuples(st.integers(1, 3), st.integers(1, int(LOOKS * LOOK_S * 1000) - 1), st.booleans()),
        max_size=40,
    ),
    page_sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
)
def test_lines_that_come_at_most_a_look_late_are_in_the_order_of_time(
    moments: list[tuple[int, int, bool]], page_sizes: list[int]
) -> None:
    lines: dict[str, list[Written]] = {stream(host): [] for host in (1, 2, 3)}
    for host, time_ms, is_late in sorted(moments):
        before = lines[stream(host)][-1].arrives_s if lines[stream(host)] else 0.0
        look = time_ms // int(LOOK_S * 1000) + is_late
        arrives_s = max(before, START_S + look * LOOK_S)
        lines[stream(host)].append(Written(START_MS + time_ms, str(time_ms), arrives_s))
    clock = Clockwork()
    # Requests take no time, so that looks are where they are meant to be.
    clock.sleep = lambda pause_s: None  # type: ignore[method-assign]
    shown = read_all(FakeLogs(clock, lines, page_sizes), hosts=3)
    assert [int(line.text) for line in shown] == sorted(time_ms for _, time_ms, _ in moments)


def test_a_host_that_starts_again_has_both_its_streams_shown() -> None:
    clock = Clockwork()
    lines = {
        stream(1): [Written(1, "first")],
        stream(1, start=1): [Written(2, "again", clock.now_s + 60)],
    }
    reader = reader_of(FakeLogs(clock, lines), [], hosts=1)
    assert [line.text for part in reader.look() for line in part.lines] == ["first"]
    clock.now_s += 60
    assert [line.text for part in reader.look() for line in part.lines] == ["again"]


def test_a_job_without_lines_yet_is_no_error() -> None:
    assert list(reader_of(FakeLogs(Clockwork(), {}), [], hosts=2).look()) == []


def test_lines_that_may_not_be_read_are_an_error() -> None:
    def deny() -> None:
        raise refused("AccessDeniedException")

    with pytest.raises(AwsRefused):
        list(reader_of(FakeLogs(Clockwork(), {}, fails=deny), [], hosts=1).look())


def test_a_large_backlog_is_read_by_time_and_not_host_by_host() -> None:
    lines = {
        stream(host): [Written(10 * number + host, f"{host}") for number in range(100)]
        for host in (1, 2)
    }
    reader = reader_of(FakeLogs(Clockwork(), lines, page_sizes=(10,)), [], hosts=2)
    weave, held = Weave(hosts=2), 0
    for part in reader.look():
        weave.add(part.lines, whole_until_ms=part.whole_until_ms)
        held = max(held, len(weave._held))
    assert held <= 30


def test_requests_are_spread_over_time() -> None:
    clock = Clockwork()
    lines = {stream(host): [Written(1, "x")] for host in range(1, 17)}
    logs = FakeLogs(clock, lines)
    list(reader_of(logs, [], hosts=16).look())
    passed_s = sum(clock.waits_s)
    assert logs.pages / passed_s <= 5
