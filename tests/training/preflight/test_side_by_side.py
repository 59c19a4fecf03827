"""Checks side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

from training.aws.errors import AwsRefused, AwsUnreachable
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.side_by_side import run_checks


@dataclass(frozen=True)
class Trial(Check):
    """The trial works.

    Whatever else there is to say.
    """

    codes: ClassVar[Mapping[str, Severity]] = {"first": "warning", "second": "error"}
    actions: ClassVar[tuple[str, ...]] = ()

    then: Callable[[], None] = lambda: None

    def find(self) -> Iterator[Finding]:
        yield self.found("first", "key", "One.")
        self.then()
        yield self.found("second", "key", "Two.")


def codes(*checks: Check, time_limit_s: float = 30) -> list[str]:
    return [found.code for found in run_checks(checks, time_limit_s=time_limit_s).findings]


def refused(code: str) -> Callable[[], None]:
    def refuse() -> None:
        error = AwsRefused(f"No ({code})", operation="DescribeVpcs", code=code, request_id="r")
        error.action = "ec2:DescribeVpcs"
        raise error

    return refuse


def test_findings_come_in_the_order_of_the_checks() -> None:
    slow = Trial(lambda: time.sleep(0.2))
    assert codes(slow, Trial()) == ["first", "second"] * 2


def test_checks_run_at_once() -> None:
    meeting = threading.Barrier(8, timeout=30)
    trials = [Trial(lambda: meeting.wait() and None) for _ in range(8)]
    assert codes(*trials) == ["first", "second"] * 8


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "AccessDeniedException", "403"])
def test_a_missing_permission_is_a_warning_that_names_it_and_keeps_what_was_found(
    code: str,
) -> None:
    first, denied = run_checks([Trial(refused(code))], time_limit_s=30).findings
    assert first.code == "first"
    assert (denied.code, denied.severity) == ("check-not-permitted", "warning")
    assert denied.message.startswith(
        'not checked: "The trial works" needs the permission ec2:DescribeVpcs'
    )


def test_another_refusal_is_a_warning_with_what_aws_said() -> None:
    _, other = run_checks([Trial(refused("Throttling"))], time_limit_s=30).findings
    assert (other.code, other.severity) == ("check-not-answered", "warning")
    assert "No (Throttling)" in other.message


def test_a_service_that_does_not_answer_is_a_warning() -> None:
    def vanish() -> None:
        raise AwsUnreachable("https://x: cannot be reached")

    assert codes(Trial(vanish)) == ["first", "check-not-answered"]


def test_a_check_that_takes_too_long_is_left_alone() -> None:
    over = threading.Event()
    begin = time.monotonic()
    found = codes(Trial(lambda: over.wait(60) and None), Trial(), time_limit_s=0.3)
    over.set()
    assert found == ["first", "check-timed-out", "first", "second"]
    assert time.monotonic() - begin < 30


def test_a_bug_in_a_check_surfaces_as_a_bug() -> None:
    def bug() -> None:
        raise KeyError("VpcId")

    with pytest.raises(KeyError, match="VpcId"):
        run_checks([Trial(bug)], time_limit_s=30)


def hang() -> None:
    raise AwsUnreachable("https://x: cannot be reached")


@dataclass(frozen=True)
class Question(Check):
    """The question has an answer."""

    codes: ClassVar[Mapping[str, Severity]] = {"answered": "info"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeVpcs",)

    ask: Callable[[], None] = lambda: None

    def find(self) -> Iterator[Finding]:
        self.ask()
        yield self.found("answered", "key", "Yes.")


def is_silent(*checks: Check, time_limit_s: float = 30) -> bool:
    return run_checks(checks, time_limit_s=time_limit_s).is_silent


def test_aws_is_silent_where_it_answers_no_check_that_asks_it() -> None:
    assert is_silent(Question(hang), Trial())
    assert is_silent(Question(refused("Throttling")), Question(hang))
    assert not is_silent(Question(hang), Question())
    assert not is_silent(Trial())
    assert not is_silent()


def test_aws_is_silent_where_no_answer_comes_in_time() -> None:
    over = threading.Event()
    assert is_silent(Question(lambda: over.wait(60) and None), time_limit_s=0.1)
    over.set()


@pytest.mark.parametrize("code", ["AccessDenied", "NotImplemented"])
def test_aws_is_not_silent_where_it_says_what_it_does_not_tell(code: str) -> None:
    assert not is_silent(Question(refused(code)))


def test_aws_is_not_silent_where_a_check_found_something_first() -> None:
    @dataclass(frozen=True)
    class HalfAnswered(Question):
        def find(self) -> Iterator[Finding]:
            yield self.found("answered", "key", "Yes.")
            hang()

    assert not is_silent(HalfAnswered())
