"""How a job on the EKS cluster is doing, from what the API server has of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from training.jobs.info import ENDED, Status
from training.platforms.eks.annotations import FINGERPRINT, INSTANCE_TYPE, LOG
from training.platforms.eks.commands import CLUSTER_STATUS, INSTALL, how_to_stop
from training.platforms.eks.observed import Observed, Pod, read_time
from training.platforms.eks.reasons import in_words, is_lost, what_ended, why_waiting

CHECKPOINTED, STOPPED = 75, 143
"""Exit codes of the launcher; docker/entrypoint/errors.py has them."""

OPERATOR_SILENT_S = 60.0
"""The MPI Operator puts its first condition on a job within a second or two."""


@dataclass(frozen=True, kw_only=True)
class JobState:
    """A job at one moment."""

    name: str
    status: Status
    reason: str | None
    """Why it waits, or how it ended."""
    exit_code: int | None
    """Of the launcher's last pod, where that is still told."""
    created: datetime | None
    started: datetime | None
    """When a node took the first of its workers, as far as that is still told."""
    ended: datetime | None
    workers: int
    """That the job takes."""
    running: int
    """Of those, the ones that run."""
    attempts: int
    """Launcher pods that there were."""
    leftovers: tuple[str, ...] = ()
    """Pods of a job that has ended which still run, or may yet."""
    log: str | None = None
    """The log folder, as the pods have it."""
    fingerprint: str | None = None
    instance_type: str | None = None
    """Of its workers' nodes, where that is told."""
    has_mpijob: bool = True
    """Whether its MPIJob is there; else what is told is helm's record."""
    is_removed: bool = False
    """Whether only helm's record of it is left."""

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def detail(self) -> str:
        """In a few words, what it is at."""
        if self.has_ended:
            return f"attempts: {self.attempts}" if self.attempts > 1 else "-"
        again = f", attempts: {self.attempts}" if self.attempts > 1 else ""
        return f"{self.running} of {self.workers} workers run{again}"

    @property
    def message(self) -> str | None:
        """What there is to say of it, with what is left of a job that has ended."""
        if not self.leftovers:
            return self.reason
        left = (
            f"{len(self.leftovers)} pod(s) of it still run, on nodes that are paid for: "
            f"{', '.join(self.leftovers)}. Remove them: {how_to_stop(self.name)}"
        )
        return f"{self.reason}. {left}" if self.reason else left


def read_state(observed: Observed, *, now: datetime) -> JobState:
    """Return how a job is doing."""
    meta, launchers = observed.mpijob["metadata"], observed.launchers
    last = launchers[-1] if launchers else None
    state = JobState(
        name=observed.name,
        status="waiting",
        reason=None,
        exit_code=last.exit_code if last else None,
        created=read_time(meta.get("creationTimestamp")),
        started=_started(observed),
        ended=read_time(observed.mpijob.get("status", {}).get("completionTime")),
        workers=observed.wanted_workers,
        running=sum(pod.phase == "Running" for pod in observed.workers),
        attempts=max(1, len(launchers)),
        log=observed.annotations.get(LOG),
        fingerprint=observed.annotations.get(FINGERPRINT),
        instance_type=observed.annotations.get(INSTANCE_TYPE),
    )
    state = _judged(observed, state, now)
    if not state.has_ended:
        return replace(state, ended=None)
    left = tuple(pod.name for pod in observed.pods if pod.is_active and not pod.is_going)
    return replace(state, leftovers=left, ended=state.ended or _failed_at(observed))


def _judged(observed: Observed, state: JobState, now: datetime) -> JobState:
    if observed.condition("Succeeded"):
        return replace(state, status="completed", exit_code=0)
    failed = observed.condition("Failed")
    if failed:
        return _ended_otherwise(observed, state, str(failed.get("reason")), failed.get("message"))
    if "deletionTimestamp" in observed.mpijob["metadata"]:
        return replace(state, status="stopping", reason="it is being removed")
    if observed.mpijob["spec"].get("runPolicy", {}).get("suspend"):
        return _suspended(observed, state)
    lost = [pod for pod in observed.workers if is_lost(pod) and pod.reason == "Evicted"]
    if lost:
        # The operator makes no other in its place, and the others would wait for it.
        return replace(state, status="failed", reason=_of_pods(lost))
    return _on_its_way(observed, state, now)


def _ended_otherwise(
    observed: Observed, state: JobState, reason: str, message: str | None
) -> JobState:
    """Judge a job that its operator calls failed: whoever is stopped saves, and ends so, too."""
    if reason == "DeadlineExceeded":
        limit = "its time limit was reached (limits.max_run_s and eks.workers_wait_s together)"
        if any(each.get("type") == "Running" for each in observed.mpijob["status"]["conditions"]):
            return replace(state, status="checkpointed", reason=limit)
        return replace(state, status="stopped", reason=f"{limit}; it had not run")
    if state.exit_code == CHECKPOINTED:
        return replace(state, status="checkpointed", reason=_last_word(observed))
    if state.exit_code == STOPPED:
        return replace(state, status="stopped", reason=_last_word(observed))
    pods = [*observed.workers, *observed.launchers[-1:]]
    told = _of_pods([pod for pod in pods if pod.phase == "Failed"])
    return replace(state, status="failed", reason=told or message or reason)


def _suspended(observed: Observed, state: JobState) -> JobState:
    going = [pod for pod in observed.pods if pod.is_active]
    if going:
        return replace(state, status="stopping", reason="its processes save a checkpoint")
    if state.attempts and observed.launchers:
        return replace(state, status="stopped", reason="it is suspended")
    return replace(state, status="queued", reason="it is suspended: spec.runPolicy.suspend")


def _on_its_way(observed: Observed, state: JobState, now: datetime) -> JobState:
    age_s = (now - state.created).total_seconds() if state.created else 0.0
    if not observed.mpijob.get("status", {}).get("conditions") and age_s > OPERATOR_SILENT_S:
        said = _validation(observed) or (
            f"the MPI Operator has not seen it in {age_s:.0f} s: it is not installed, or does not "
            f"run. Install it: {INSTALL}; see how it is: {CLUSTER_STATUS}"
        )
        return replace(state, reason=said)
    lost = _of_pods([pod for pod in observed.workers if pod.phase == "Failed"])
    waiting = in_words(why_waiting(observed))
    reason = "; ".join(each for each in (_validation(observed), lost, waiting) if each) or None
    launcher = observed.launchers[-1] if observed.launchers else None
    runs = launcher is not None and launcher.phase == "Running" and state.running > 0
    return replace(state, status="running" if runs else "waiting", reason=reason)


def _validation(observed: Observed) -> str | None:
    """Return what the operator does not take of the job."""
    for event in observed.events_of(observed.name):
        if event.get("reason") == "ValidationError":
            return f"the MPI Operator refuses it: {event.get('message')}"
    return None


def _last_word(observed: Observed) -> str | None:
    """Return what the launcher's entry point wrote down as the end."""
    for container in observed.launchers[-1].containers if observed.launchers else ():
        ended = container.get("state", {}).get("terminated") or {}
        if ended.get("message"):
            return str(ended["message"]).strip()
    return None


def _of_pods(pods: Sequence[Pod]) -> str | None:
    return "; ".join(said for pod in pods if (said := what_ended(pod))) or None


def _started(observed: Observed) -> datetime | None:
    """Return when a worker's node took it; once they are gone, when the job itself was begun."""
    times = [time for pod in observed.workers if (time := pod.started)]
    has_ended = observed.condition("Succeeded") or observed.condition("Failed")
    if has_ended and not times:
        return read_time(observed.mpijob.get("status", {}).get("startTime"))
    return min(times, default=None)


def _failed_at(observed: Observed) -> datetime | None:
    failed = observed.condition("Failed") or {}
    return read_time(failed.get("lastTransitionTime"))
