"""Removes a job from the cluster: its release, wherever that is, or an MPIJob that has none.

helm says nothing of a release that is in another namespace than the one it is asked for, nor of
objects that no release made: whether the MPIJob went is looked at.
"""

from __future__ import annotations

from training.errors import AwsError
from training.kubernetes.client import Object
from training.kubernetes.errors import KubernetesRefused
from training.kubernetes.helm import Release
from training.platforms.common.patience import Timer
from training.platforms.eks.annotations import RELEASE, RELEASE_NAMESPACE, SELECTOR
from training.platforms.eks.commands import how_to_stop
from training.platforms.eks.connection import Connection
from training.platforms.eks.looking import MPIJOBS
from training.platforms.eks.observed import JOB_NAME, Pod
from training.platforms.eks.releases import recorded

REMOVAL_S = 60.0
"""How long what was asked to go may take, beyond the grace of its pods."""

LOOK_S = 1.0
"""Between two looks at what ends."""

_BESIDE_THE_JOB = ("configmaps", "networkpolicies.networking.k8s.io")
"""What else a chart makes of a job, by kind."""


def remove(connection: Connection, name: str, *, description: str = "") -> None:
    """Ask for the end of a job's objects, and keep helm's record where it has one.

    Args:
        connection: To the cluster.
        name: The job.
        description: That the record is to keep.

    Raises:
        KubernetesError: The cluster refused, or does not answer.
    """
    mpijob = connection.kubernetes.get(MPIJOBS, name)
    release = _release_of(connection, mpijob) if mpijob else recorded(connection, name)
    if release is not None and release.status != "uninstalled":
        _uninstall(connection, release, description)
    elif mpijob is not None:
        _delete(connection, name, mpijob)


def wait_until_gone(
    connection: Connection, name: str, *, grace_s: float = 0.0, timer: Timer
) -> None:
    """Return once neither the MPIJob nor a pod of it is there.

    Args:
        grace_s: That its pods have.

    Raises:
        AwsError: Something stays; the message says what, and where.
    """
    until = timer.now() + grace_s + REMOVAL_S
    while left := _left(connection, name):
        if timer.now() >= until:
            namespace = connection.kubernetes.namespace
            raise AwsError(
                f"{name} was asked to end, and is not gone: namespace {namespace} still has "
                f"{', '.join(left)}. Nodes on which its pods run are paid for. Look why: kubectl "
                f"describe {left[0]} -n {namespace}; then run it again: {how_to_stop(name)}"
            )
        timer.sleep(LOOK_S)


def _uninstall(connection: Connection, release: Release, description: str) -> None:
    helm = connection.helm_in(release.namespace)
    try:
        helm.uninstall(release.name, keep_history=True, description=description)
    except KubernetesRefused as error:
        raise KubernetesRefused(
            f"{error}. Release {release.name} of namespace {release.namespace} is not removed, nor "
            f"all of its objects in namespace {connection.kubernetes.namespace}",
            error.reason,
        ) from error


def _left(connection: Connection, name: str) -> list[str]:
    kubernetes = connection.kubernetes
    found = [f"mpijob/{name}"] if kubernetes.get(MPIJOBS, name) else []
    pods = [Pod(each) for each in kubernetes.list("pods", selector=f"{JOB_NAME}={name}")]
    return [*found, *(f"pod/{pod.name}" for pod in pods if pod.is_active)]


def _release_of(connection: Connection, made: Object) -> Release | None:
    """Return the release that made an object; None where none did, or its record is gone."""
    home = _home(made)
    return connection.helm_in(home[1]).release(home[0]) if home else None


def _home(made: Object) -> tuple[str, str] | None:
    """Return name and namespace of the release that an object says it is of."""
    told = made["metadata"].get("annotations") or {}
    if RELEASE in told and RELEASE_NAMESPACE in told:
        return told[RELEASE], told[RELEASE_NAMESPACE]
    return None


def _delete(connection: Connection, name: str, mpijob: Object) -> None:
    """Delete an MPIJob that is of no release, and what was made with it."""
    kubernetes = connection.kubernetes
    kubernetes.delete(MPIJOBS, name, owned_first=True)
    selector = f"{SELECTOR},app.kubernetes.io/instance={name}"
    for kind in _BESIDE_THE_JOB:
        # Of another release with the same name, in another namespace, they stay.
        beside = [e for e in kubernetes.list(kind, selector=selector) if _home(e) == _home(mpijob)]
        if names := [each["metadata"]["name"] for each in beside]:
            kubernetes.delete(kind, *names)
