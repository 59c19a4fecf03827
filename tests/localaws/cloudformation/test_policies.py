"""How long a group waits, and when too few of its instances are set up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localaws.cloudformation.policies import (
    CreationPolicy,
    PolicyFailed,
    RollingUpdate,
    judge,
    keeps_sizes,
    seconds,
)
from localaws.cloudformation.signals import Outcome


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_duration_is_the_sum_of_its_parts(hours: int, minutes: int, rest: int) -> None:
    assert seconds(f"PT{hours}H{minutes}M{rest}S") == hours * 3600 + minutes * 60 + rest


@pytest.mark.parametrize("text", ["PT", "15M", "P1D", "PT1.5M", "", "PT1M2H", " PT1M"])
def test_other_texts_are_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration such as PT15M"):
        seconds(text)


def test_what_a_policy_leaves_out_is_as_in_aws() -> None:
    assert CreationPolicy.of({"ResourceSignal": {}}) == CreationPolicy(1, "PT5M", 100)
    assert CreationPolicy.of({}) is None
    assert RollingUpdate.of({}) is None
    waiting = RollingUpdate.of({"AutoScalingRollingUpdate": {"WaitOnResourceSignals": "true"}})
    assert waiting == RollingUpdate(1, 0, 100, "PT5M", waits=True, suspended=())
    assert RollingUpdate.of({"AutoScalingRollingUpdate": {}}) == RollingUpdate(
        1, 0, 100, "PT0S", waits=False, suspended=()
    )
    assert keeps_sizes({}) is False


@pytest.mark.parametrize(
    ("outcome", "total", "percent", "message"),
    [
        (Outcome(3, 0, 0), 3, 100, None),
        (Outcome(2, 1, 0), 3, 100, "Received 1 FAILURE signal(s) out of 3"),
        (Outcome(2, 0, 1), 3, 100, "Failed to receive 1 resource signal(s)"),
        (Outcome(1, 1, 0), 4, 75, None),
        (Outcome(1, 2, 0), 4, 75, "Unable to satisfy 75% MinSuccessfulInstancesPercent"),
        (Outcome(0, 3, 0), 3, 0, None),
        # Others may still come.
        (Outcome(1, 0, 0), 9, 100, None),
    ],
)
def test_too_few_successes_are_refused(
    outcome: Outcome, total: int, percent: int, message: str | None
) -> None:
    if message is None:
        judge(outcome, total, percent)
        return
    with pytest.raises(PolicyFailed) as refused:
        judge(outcome, total, percent)
    assert message in str(refused.value)
