"""Looks at jobs on the cluster: those that are there, and the record of those that were removed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn

from training.errors import AwsError, UsageError
from training.job import is_job_name
from training.kubernetes.errors import KubernetesRefused
from training.platforms.eks.annotations import SELECTOR
from training.platforms.eks.commands import INSTALL, LIST
from training.platforms.eks.connection import Connection
from training.platforms.eks.observed import JOB_NAME, Object, Observed, Pod
from training.platforms.eks.releases import is_job, newest, of_release, recorded
from training.platforms.eks.state import JobState, read_state

MPIJOBS = "mpijobs.kubeflow.org"


class NoJobsRelease(UsageError):
    """The name is that of a release which is none of a job."""


def observe(connection: Connection, name: str) -> Observed | None:
    """Return what the API server has of a job; None where it has no MPIJob of that name.

    Raises:
        KubernetesError: It refused, or does not answer.
        AwsError: The MPI Operator is not installed.
    """
    kubernetes = connection.kubernetes
    try:
        mpijob = kubernetes.get(MPIJOBS, name)
    except KubernetesRefused as error:
        _explain(error)
    if mpijob is None:
        return None
    pods = kubernetes.list("pods", selector=f"{JOB_NAME}={name}")
    events = _by_time(kubernetes.list("events"))
    return Observed(mpijob=mpijob, pods=[Pod(each) for each in pods], events=events)


def find(connection: Connection, name: str, *, now: datetime) -> JobState | None:
    """Return how a job is doing, or how it had ended when it was removed; None for no job.

    Raises:
        NoJobsRelease: Something else has the name: a copy of data, Jupyter, attached pods.
        As `observe`.
    """
    observed = observe(connection, name)
    if observed is not None:
        return read_state(observed, now=now)
    release = recorded(connection, name)
    if release is None:
        return None
    if not is_job(release):
        raise NoJobsRelease(
            f"{name}: a release of chart {release.chart} has this name, which is no job. To see "
            f"it: helm list -n {release.namespace}"
        )
    return of_release(connection, release)


def require(connection: Connection, name: str, *, now: datetime) -> JobState:
    """Return how a job is doing.

    Raises:
        UsageError: There is no such job, or no job can have that name.
        As `observe`.
    """
    if not is_job_name(name):
        raise UsageError(
            f"{name!r}: no job has such a name: 1 to 63 letters, digits and -, neither first nor "
            f"last a -. Those of the cluster: {LIST}"
        )
    found = find(connection, name, now=now)
    if found is None:
        raise UsageError(
            f"{name}: the cluster has no job of this name. Those that it has: {LIST}; a job of "
            "another platform has another --platform"
        )
    return found


def all_jobs(connection: Connection, *, limit: int, now: datetime) -> list[JobState]:
    """Return the jobs of the namespace, newest first.

    Raises:
        As `observe`.
    """
    kubernetes = connection.kubernetes
    try:
        mpijobs = kubernetes.list(MPIJOBS, selector=SELECTOR)
    except KubernetesRefused as error:
        _explain(error)
    pods: dict[str, list[Pod]] = {}
    for each in kubernetes.list("pods", selector=SELECTOR):
        owner = str(each["metadata"].get("labels", {}).get(JOB_NAME, ""))
        pods.setdefault(owner, []).append(Pod(each))
    events = _by_time(kubernetes.list("events"))
    found = [
        read_state(
            Observed(mpijob=each, pods=pods.get(each["metadata"]["name"], []), events=events),
            now=now,
        )
        for each in mpijobs
    ]
    there = {state.name for state in found}
    found += [
        of_release(connection, release)
        for release in newest(connection, without=there, limit=limit)
    ]
    oldest = datetime.min.replace(tzinfo=now.tzinfo)
    return sorted(found, key=lambda state: state.created or oldest, reverse=True)[:limit]


def _by_time(events: Sequence[Object]) -> list[Object]:
    """Return events, newest last; of those that were counted, the last time tells."""

    def when(event: Object) -> str:
        series = event.get("series") or {}
        times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
        made = event["metadata"].get("creationTimestamp")
        return str(next((time for time in (*times, made) if time), ""))

    return sorted(events, key=when)


def _explain(error: KubernetesRefused) -> NoReturn:
    """Raise what a refused look at MPIJobs means.

    Raises:
        AwsError: The cluster knows no MPIJobs; or as it was.
    """
    if error.reason != "NoSuchKind":
        raise error
    raise AwsError(
        f"the cluster knows no MPIJobs: the MPI Operator is not installed. Install it: {INSTALL}"
    ) from error
