"""What is removed is removed where it is, and what stays is never called removed."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.kubernetes_objects import Kind, Object, Place
from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.by_hand import applied, installed
from tests.training.platforms.eks.planning import request
from tests.training.platforms.eks.small_operator import SmallOperator
from tests.waiting import wait_for
from training.errors import AwsError
from training.kubernetes.errors import KubernetesRefused
from training.platforms.common.patience import Timer
from training.platforms.eks.connection import Connection
from training.platforms.eks.looking import all_jobs, find
from training.platforms.eks.stopping import stop
from training.platforms.eks.submission import submit

FORBIDDEN = (403, "Forbidden", "is forbidden: User cannot do that")


def silent(_: str) -> None:
    """Tell nobody."""


def quick() -> Timer:
    """Return a clock on which each look takes a minute."""
    passed_s = itertools.count(0.0, 60.0)
    return Timer(now=lambda: next(passed_s), sleep=lambda _: None)


@pytest.mark.parametrize("namespace", ["default", "kubeflow"])
def test_a_release_is_uninstalled_in_the_namespace_that_it_is_in(
    namespace: str, cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    installed(connection, "by-hand", namespace=namespace)
    wait_for(lambda: len(cluster.names("pods")) == 4, "pods")
    state = stop(connection, "by-hand", tell=silent)
    assert state.status == "checkpointed"
    assert not cluster.names("mpijobs") | cluster.names("pods")
    assert not cluster.names("configmaps") | cluster.names("networkpolicies")
    kept = find(connection, "by-hand", now=datetime.now(UTC))
    assert kept is not None
    assert (kept.status, kept.is_removed, kept.workers) == ("checkpointed", True, 3)
    assert re.fullmatch(r"/fsx/maskrcnn-[0-9-]{19}", str(kept.log)), kept.log
    assert kept.instance_type == "p3.16xlarge"
    listed = all_jobs(connection, limit=20, now=datetime.now(UTC))
    assert [(each.name, each.log) for each in listed] == [("by-hand", kept.log)]


def test_a_job_without_a_release_is_deleted_after_its_ranks_have_saved(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    applied(cluster, "bare")
    wait_for(lambda: len(cluster.names("pods")) == 4, "pods")
    told: list[str] = []
    assert stop(connection, "bare", tell=told.append).status == "checkpointed"
    assert told == ["bare: its ranks save a checkpoint, 120 s at most"]
    assert not cluster.names("mpijobs") | cluster.names("pods")
    assert not cluster.names("configmaps") | cluster.names("networkpolicies")


def test_a_release_whose_record_is_gone_leaves_its_job_to_be_deleted(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    installed(connection, "by-hand", namespace="default")
    store = cluster.store
    for name in cluster.names("secrets"):
        store.delete(store.kind("", "v1", "secrets"), ("default", name))
    stop(connection, "by-hand", tell=silent)
    assert not cluster.names("mpijobs") | cluster.names("configmaps")


def test_a_release_that_may_not_be_removed_is_named_with_its_namespace(
    cluster: KubernetesServer, connection: Connection
) -> None:
    installed(connection, "by-hand", namespace="default")
    cluster.refusals["delete", "mpijobs"] = FORBIDDEN
    said = r"Release by-hand of namespace default is not removed, .* in namespace kubeflow$"
    with pytest.raises(KubernetesRefused, match=said):
        stop(connection, "by-hand", tell=silent, timer=quick())
    assert cluster.names("mpijobs") == {"by-hand"}


@pytest.mark.parametrize("has_release", [True, False])
def test_a_deleted_job_that_a_finalizer_keeps_is_not_called_stopped(
    has_release: bool,
    cluster: KubernetesServer,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if has_release:
        submit(connection, request(name="job-1"), tell=silent)
    else:
        applied(cluster, "job-1")
    delete = cluster.store.delete

    def kept(kind: Kind, place: Place) -> Object:
        found = cluster.store.get(kind, place)
        return found if kind.plural == "mpijobs" else delete(kind, place)

    monkeypatch.setattr(cluster.store, "delete", kept)
    said = r"namespace kubeflow still has mpijob/job-1\. .*describe mpijob/job-1 -n kubeflow"
    with pytest.raises(AwsError, match=said):
        stop(connection, "job-1", tell=silent, timer=quick())


def test_to_go_on_removes_what_is_left_of_the_job_wherever_its_release_is(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    installed(connection, "job-1", namespace="default")
    wait_for(lambda: len(cluster.names("pods")) == 4, "pods")
    operator.end("job-1", code=75, message="stopped by SIGTERM, with a checkpoint at step 40")
    submit(connection, replace(request(name="job-1"), resume=True), tell=silent)
    made = cluster.find("mpijobs", "job-1")
    assert made is not None
    assert made["metadata"]["annotations"]["meta.helm.sh/release-namespace"] == "kubeflow"


def test_releases_elsewhere_that_are_of_no_job_here_are_left_alone(
    cluster: KubernetesServer, connection: Connection
) -> None:
    elsewhere = {"global": {"namespace": "default"}, "maskrcnn": {"image": "registry/image:1"}}
    for name in ("mask-rcnn-efs", "mask-rcnn-fsx"):
        claim = dict(cluster.find("persistentvolumeclaims", name) or {})
        cluster.put({**claim, "metadata": {"name": name, "namespace": "default"}})
    connection.helm_in("default").install(
        "theirs", request(name="x").chart_folder.parent / "maskrcnn", elsewhere
    )
    assert find(connection, "theirs", now=datetime.now(UTC)) is None
    assert all_jobs(connection, limit=20, now=datetime.now(UTC)) == []


def test_who_may_see_one_namespace_only_sees_its_jobs(
    cluster: KubernetesServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(connection, request(name="job-1"))
    connection.helm.uninstall("job-1", keep_history=True, description="completed")
    whole_cluster = type(connection.helm).releases

    def refused(helm: object, *words: str, everywhere: bool = False, **options: bool) -> object:
        if everywhere:
            raise KubernetesRefused("secrets is forbidden", "Forbidden")
        return whole_cluster(helm, *words, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(type(connection.helm), "releases", refused)
    found = find(connection, "job-1", now=datetime.now(UTC))
    assert found is not None
    assert found.status == "completed"


def test_a_release_that_helm_could_not_make_is_a_failed_job(
    cluster: KubernetesServer, connection: Connection
) -> None:
    cluster.refusals["patch", "mpijobs"] = FORBIDDEN
    with pytest.raises(KubernetesRefused):
        connection.helm.install("job-1", request(name="job-1").chart_folder, request().values)
    found = find(connection, "job-1", now=datetime.now(UTC))
    assert found is not None
    assert (found.status, found.is_removed, found.has_mpijob) == ("failed", False, False)
    assert re.match(
        r"helm could not make it \(.*forbidden.*\)\. Remove what it left: ", str(found.reason)
    )
