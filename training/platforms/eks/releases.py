"""What helm's record tells of jobs whose MPIJob is not there: of those that were removed, too.

`helm install` without -n makes a release in the user's own namespace, mostly `default`, while its
objects are in the jobs'. So releases of every namespace count, where they may be seen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from training.kubernetes.errors import KubernetesRefused
from training.kubernetes.helm import Release
from training.platforms.eks.annotations import FINGERPRINT, INSTANCE_TYPE, LOG, NODES
from training.platforms.eks.charts import CHARTS
from training.platforms.eks.commands import how_to_stop
from training.platforms.eks.connection import Connection
from training.platforms.eks.record import ended_as
from training.platforms.eks.state import JobState


def recorded(connection: Connection, name: str) -> Release | None:
    """Return the newest release of a name; None where there is none.

    In the jobs' namespace that is any release; elsewhere only that of a job whose MPIJob would be
    in the jobs' namespace.
    """
    for each in _releases(connection, f"^{name}$"):
        if _is_ours(connection, each):
            return connection.helm_in(each.namespace).release(name)
    return None


def newest(connection: Connection, *, without: set[str], limit: int) -> list[Release]:
    """Return the releases of jobs of which no MPIJob is there, with what helm was told of each."""
    found: dict[str, Release] = {}
    for each in _releases(connection):
        if len(found) == limit:
            break
        if each.name in without or each.name in found or not is_job(each):
            continue
        if _is_ours(connection, each):
            described = connection.helm_in(each.namespace).release(each.name)
            found |= {each.name: described} if described is not None else {}
    return list(found.values())


def is_job(release: Release) -> bool:
    """Return whether a release is one of a job, and not of a test chart or of stage-data."""
    return release.chart.rpartition("-")[0] in CHARTS.values()


def of_release(connection: Connection, release: Release) -> JobState:
    """Return what helm's record says of a job whose MPIJob is not there."""
    told = _mpijob(connection, release).get("annotations") or {}
    if release.status == "uninstalled":
        status, reason = ended_as(release.description)
    elif release.status.startswith("pending"):
        status, reason = "waiting", f"helm is making it, or was stopped: {release.status}"
    elif release.status == "failed":
        status, reason = (
            "failed",
            (
                f"helm could not make it ({' '.join(release.description.split())}). Remove what it "
                f"left: {how_to_stop(release.name)}"
            ),
        )
    else:
        status = "stopped"
        reason = (
            f"its MPIJob is gone, and the rest of its release is {release.status}: remove that: "
            f"{how_to_stop(release.name)}"
        )
    updated = _read_updated(release.updated)
    nodes = str(told.get(NODES, ""))
    return JobState(
        name=release.name,
        status=status,
        reason=reason,
        exit_code=None,
        created=updated,
        started=None,
        ended=updated if status not in {"waiting"} else None,
        workers=int(nodes) if nodes.isdecimal() else 0,
        running=0,
        attempts=1,
        log=told.get(LOG) or None,
        fingerprint=told.get(FINGERPRINT) or None,
        instance_type=told.get(INSTANCE_TYPE) or None,
        has_mpijob=False,
        is_removed=release.status == "uninstalled",
    )


def _releases(connection: Connection, pattern: str = "") -> list[Release]:
    """Return releases of all namespaces, newest first; of the jobs' alone where no more is seen."""
    helm = connection.helm
    try:
        found = helm.releases(pattern, described=False, everywhere=True)
    except KubernetesRefused as error:
        if error.reason != "Forbidden":
            raise
        found = helm.releases(pattern, described=False)
    return sorted(found, key=lambda each: each.updated, reverse=True)


def _is_ours(connection: Connection, release: Release) -> bool:
    """Return whether a release belongs to the jobs' namespace."""
    namespace = connection.helm.namespace
    if release.namespace == namespace:
        return True
    return is_job(release) and _mpijob(connection, release).get("namespace") == namespace


def _mpijob(connection: Connection, release: Release) -> dict[str, Any]:
    """Return the metadata of the MPIJob as the release sent it; empty where it has none.

    Not the values: what nobody gave, such as the log folder, is in the objects alone.
    """
    import yaml

    text = connection.helm_in(release.namespace).manifest(release.name)
    for each in yaml.load_all(text, yaml.CSafeLoader):
        if each and each.get("kind") == "MPIJob":
            found: dict[str, Any] = each["metadata"]
            return found
    return {}


def _read_updated(text: str) -> datetime | None:
    """Read the time of helm's list: `2026-11-29 01:02:03.123456789 +0000 UTC`."""
    parts = text.split()
    try:
        return datetime.fromisoformat(f"{parts[0]}T{parts[1][:15]}{parts[2]}")
    except (IndexError, ValueError):
        return None
