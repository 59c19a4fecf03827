"""Lines of several hosts in one order."""

from __future__ import annotations

from training.platforms.sagemaker.log_lines import Line, Weave


def line(time_ms: int, host: int = 1) -> Line:
    return Line(time_ms, f"algo-{host}", f"{time_ms} of {host}")


def test_one_host_is_shown_at_once() -> None:
    weave = Weave(hosts=1)
    assert weave.add([line(1), line(2)], whole_until_ms=0) == []
    assert weave.settle() == [line(1), line(2)]
    assert weave.rest() == []


def test_a_line_of_several_hosts_waits_for_one_more_look() -> None:
    weave = Weave(hosts=2)
    weave.add([line(10), line(30)], whole_until_ms=0)
    assert weave.settle() == []
    weave.add([line(20, host=2), line(40, host=2)], whole_until_ms=0)
    assert weave.settle() == [line(10), line(20, host=2), line(30)]
    assert weave.settle() == [line(40, host=2)]


def test_what_is_whole_is_shown_while_there_is_more_to_read() -> None:
    weave = Weave(hosts=2)
    assert weave.add([line(10), line(30)], whole_until_ms=0) == []
    assert weave.add([line(20, host=2)], whole_until_ms=20) == [line(10)]
    assert weave.rest() == [line(20, host=2), line(30)]


def test_a_hosts_lines_keep_their_order_whatever_its_clock_says() -> None:
    weave = Weave(hosts=2)
    weave.add([line(10), line(5)], whole_until_ms=0)
    weave.add([line(7, host=2)], whole_until_ms=0)
    assert [each.text for each in weave.rest()] == ["7 of 2", "10 of 1", "5 of 1"]


def test_a_line_that_comes_too_late_is_shown_all_the_same() -> None:
    weave = Weave(hosts=2)
    weave.add([line(10)], whole_until_ms=0)
    weave.settle()
    assert weave.settle() == [line(10)]
    weave.add([line(3, host=2)], whole_until_ms=0)
    weave.settle()
    assert weave.settle() == [line(3, host=2)]
