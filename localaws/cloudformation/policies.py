"""What a template says about how a resource is made and changed, beside its properties.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-creationpolicy.html
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Self

from localaws import instance_signals
from localaws.cloudformation.signals import SIGNALS, Key, Outcome, Signal

_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")


class PolicyFailed(Exception):
    """A resource did not become ready as its policy asks."""


def seconds(duration: str) -> float:
    """Return the seconds of an ISO 8601 duration such as `PT1H30M`.

    Raises:
        ValueError: It is none.
    """
    found = _DURATION.fullmatch(duration)
    if found is None or not any(found.groups()):
        raise ValueError(f"{duration}: not a duration such as PT15M")
    hours, minutes, rest = (int(each or 0) for each in found.groups())
    return float(hours * 3600 + minutes * 60 + rest)


@dataclass(frozen=True)
class Operation:
    """One creation or change of a resource: what it tells, and what it hears."""

    key: Key
    tell: Callable[[str], None]
    """Adds an event with a reason."""

    def begin(self) -> None:
        SIGNALS.forget(self.key)

    def wait(
        self, count: int, timeout_s: float, awaited: Callable[[], Collection[str]] | None
    ) -> Outcome:
        """Wait for signals of instances; where none run, those that are there have signalled."""
        if not instance_signals.expected():
            there = count if awaited is None else min(count, len(awaited()))
            return Outcome(there, 0, count - there)
        return SIGNALS.wait(self.key, count, timeout_s, awaited, self._heard)

    def _heard(self, unique_id: str, signal: Signal) -> None:
        self.tell(f"Received {signal} signal with UniqueId {unique_id}")


@dataclass(frozen=True)
class CreationPolicy:
    """How many signals a new resource waits for."""

    count: int
    timeout: str
    percent: int
    """Of them that must be successes."""

    @classmethod
    def of(cls, attribute: dict[str, Any]) -> Self | None:
        """Return what the attribute says; None where it asks for no signals."""
        signal = attribute.get("ResourceSignal")
        if signal is None:
            return None
        of_group = attribute.get("AutoScalingCreationPolicy") or {}
        return cls(
            int(signal.get("Count", 1)),
            str(signal.get("Timeout", "PT5M")),
            int(of_group.get("MinSuccessfulInstancesPercent", 100)),
        )


@dataclass(frozen=True)
class RollingUpdate:
    """How the instances of a group are replaced."""

    batch: int
    least: int
    percent: int
    pause: str
    waits: bool
    suspended: tuple[str, ...]

    @classmethod
    def of(cls, attribute: dict[str, Any]) -> Self | None:
        """Return what the attribute says; None where instances are not replaced."""
        policy = attribute.get("AutoScalingRollingUpdate")
        if policy is None:
            return None
        waits = str(policy.get("WaitOnResourceSignals", False)).lower() == "true"
        return cls(
            batch=int(policy.get("MaxBatchSize", 1)),
            least=int(policy.get("MinInstancesInService", 0)),
            percent=int(policy.get("MinSuccessfulInstancesPercent", 100)),
            pause=str(policy.get("PauseTime", "PT5M" if waits else "PT0S")),
            waits=waits,
            suspended=tuple(policy.get("SuspendProcesses", ())),
        )


def keeps_sizes(attribute: dict[str, Any]) -> bool:
    """Return whether sizes that the template does not change are left as they are."""
    scheduled = attribute.get("AutoScalingScheduledAction") or {}
    return str(scheduled.get("IgnoreUnmodifiedGroupSizeProperties", False)).lower() == "true"


def judge(outcome: Outcome, total: int, percent: int) -> None:
    """Refuse an outcome with too few successes.

    Args:
        outcome: Of all batches so far.
        total: Signals that are expected in the end.
        percent: Of them that must be successes.

    Raises:
        PolicyFailed: There cannot be enough any more.
    """
    failures = outcome.failures + outcome.missing
    if failures <= total - math.ceil(total * percent / 100):
        return
    unable = f"Unable to satisfy {percent}% MinSuccessfulInstancesPercent requirement"
    if outcome.failures:
        raise PolicyFailed(
            f"Received {outcome.failures} FAILURE signal(s) out of {total}. {unable}"
        )
    raise PolicyFailed(
        f"Failed to receive {outcome.missing} resource signal(s) within the specified duration. "
        f"Received {outcome.successes} SUCCESS signal(s) out of {total}. {unable}"
    )
