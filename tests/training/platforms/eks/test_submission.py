"""A release is made once, whatever becomes of the answers; helm and kubectl are the real ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.planning import by_kind, request
from tests.training.platforms.eks.small_operator import SmallOperator
from tests.training.platforms.sagemaker.planning import launch
from training.errors import AwsError, Interrupted, UsageError
from training.kubernetes.errors import KubernetesUnreachable, judge_helm
from training.kubernetes.helm import Helm
from training.platforms.common.patience import Timer
from training.platforms.eks import submission
from training.platforms.eks.connection import Connection
from training.platforms.eks.stopping import stop
from training.platforms.eks.submission import submit

QUICK = Timer(sleep=lambda _: None)


class Broken(Helm):
    """helm, whose first installs end as told: before or after they were made."""

    def __init__(self, real: Helm, *endings: tuple[str, BaseException]) -> None:
        super().__init__(real.kubeconfig, real.namespace)
        object.__setattr__(self, "endings", list(endings))

    def install(self, *arguments: Any, **options: Any) -> None:
        endings: list[tuple[str, BaseException]] = getattr(self, "endings")  # noqa: B009
        when, error = endings.pop(0) if endings else ("", None)
        if when == "before" and error is not None:
            raise error
        super().install(*arguments, **options)
        if error is not None:
            raise error


def lost(*, may_have_arrived: bool) -> KubernetesUnreachable:
    error = KubernetesUnreachable("helm install job-1: no answer")
    error.may_have_arrived = may_have_arrived
    return error


def broken(connection: Connection, *endings: tuple[str, BaseException]) -> Connection:
    return replace(connection, helm=Broken(connection.helm, *endings))


def made(cluster: KubernetesServer) -> dict[str, Any]:
    found = cluster.find("mpijobs", "job-1")
    assert found is not None
    return found


def test_what_the_cluster_gets_is_the_manifest_of_the_plan(
    cluster: KubernetesServer, connection: Connection
) -> None:
    found = request(name="job-1")
    assert submit(connection, found) is None
    plurals = {
        "MPIJob": ("mpijobs", "job-1"),
        "ConfigMap": ("configmaps", "job-1-job"),
        "NetworkPolicy": ("networkpolicies", "job-1"),
    }
    for document in by_kind(found.manifest).values():
        there = cluster.find(*plurals.pop(document["kind"]))
        assert there is not None
        for part in ("spec", "data"):
            assert there.get(part) == document.get(part)
        assert there["metadata"]["annotations"].items() >= (
            document["metadata"].get("annotations", {}).items()
        )
    assert plurals == {}
    release = connection.helm.release("job-1")
    assert release is not None
    assert release.status == "deployed"


def test_the_same_request_sent_again_makes_no_second_job(
    cluster: KubernetesServer, connection: Connection
) -> None:
    submit(connection, request(name="job-1"))
    first, said = made(cluster)["metadata"]["uid"], []
    found = submit(connection, request(name="job-1"), tell=said.append)
    assert found is not None
    assert found.status == "waiting"
    assert made(cluster)["metadata"]["uid"] == first
    assert said == ["job-1 is there already, from the same request (waiting): no other was started"]


def test_another_job_of_the_name_is_refused_by_name_and_stays_as_it_is(
    cluster: KubernetesServer, connection: Connection
) -> None:
    submit(connection, request(name="job-1"))
    before = made(cluster)
    with pytest.raises(UsageError) as refused:
        submit(connection, request(name="job-1", retries=1))
    theirs = before["metadata"]["annotations"]["mask-rcnn/fingerprint"][:12]
    assert f"the name job-1 is taken by another job of 20" in str(refused.value)  # noqa: F541
    assert f"(fingerprint {theirs}; this one: " in str(refused.value)
    assert "Give another --name, or go on with that job: --resume" in str(refused.value)
    assert "No job was started" in str(refused.value)
    assert made(cluster) == before


def test_a_launch_that_is_a_moment_slower_leaves_the_first_ones_job(
    cluster: KubernetesServer, connection: Connection
) -> None:
    class Slower(Helm):
        def install(self, release: str, *_: Any, **__: Any) -> None:
            first = request(name=release)
            connection.helm.install(release, first.chart_folder, first.values)
            said = "Error: INSTALLATION FAILED: release: already exists"
            raise judge_helm(said, doing="helm install", release=release, namespace="kubeflow")

    slower = replace(connection, helm=Slower(cluster.kubeconfig, "kubeflow"))
    with pytest.raises(UsageError, match="the name job-1 is taken by another job"):
        submit(slower, request(name="job-1", hyperparameters__seed=7), timer=QUICK)
    assert made(cluster)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lost_answer_makes_one_job(
    cluster: KubernetesServer, connection: Connection, when: str
) -> None:
    said: list[str] = []
    cut = broken(connection, (when, lost(may_have_arrived=True)))
    found = submit(cut, request(name="job-1"), tell=said.append, timer=QUICK)
    assert made(cluster)["metadata"]["annotations"]["mask-rcnn/fingerprint"]
    if when == "after":
        assert found is not None
        assert said[-1] == "the answer was lost, but job-1 is there"
    else:
        assert found is None
        assert said == ["trying again in 1 s: helm install job-1: no answer"]


def test_a_cluster_that_never_answers_is_told_with_what_may_be_there(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "ATTEMPTS", 2)
    endings = [("before", lost(may_have_arrived=True))] * 9
    with pytest.raises(AwsError) as told:
        submit(broken(connection, *endings), request(name="job-1"), timer=QUICK)
    assert "Whether job-1 was started is not known. Before you launch it again, look: " in str(
        told.value
    )
    with pytest.raises(AwsError, match="no job job-1 was started"):
        endings = [("before", lost(may_have_arrived=False))] * 9
        submit(broken(connection, *endings), request(name="job-1"), timer=QUICK)


def test_a_refused_release_leaves_nothing_behind(
    cluster: KubernetesServer, connection: Connection
) -> None:
    cluster.refusals[("patch", "mpijobs")] = (403, "Forbidden", "mpijobs is forbidden: quota")
    cluster.refusals[("create", "mpijobs")] = (403, "Forbidden", "mpijobs is forbidden: quota")
    with pytest.raises(AwsError) as refused:
        submit(connection, request(name="job-1"), timer=QUICK)
    assert "forbidden" in str(refused.value)
    for plural in ("mpijobs", "configmaps", "networkpolicies", "secrets"):
        assert not {each for each in cluster.names(plural) if "job-1" in each}


@pytest.mark.parametrize(
    ("when", "said", "is_there"),
    [
        ("after", "job-1 was started all the same. Follow it: python -m training.jobs logs", True),
        ("before", "no job job-1 was started", False),
    ],
)
def test_ctrl_c_while_helm_works_says_what_is_there(
    cluster: KubernetesServer, connection: Connection, when: str, said: str, is_there: bool
) -> None:
    cut = broken(connection, (when, Interrupted("helm install was stopped")))
    with pytest.raises(Interrupted) as told:
        submit(cut, request(name="job-1"), timer=QUICK)
    assert str(told.value).startswith(said)
    assert ("job-1" in cluster.names("mpijobs")) == is_there


def test_ctrl_c_before_anything_was_sent_says_that_there_is_no_job(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("training.platforms.eks.submission.find", interrupted)
    with pytest.raises(Interrupted, match=r"^no job job-1 was started$"):
        submit(connection, request(name="job-1"))


@pytest.mark.soak
def test_what_a_killed_helm_has_left_is_removed_and_made_anew(
    cluster: KubernetesServer, connection: Connection
) -> None:
    found = request(name="job-1")
    submit(connection, found)
    # As if helm had been killed before it made the MPIJob, long ago.
    store = cluster.store
    store.delete(store.kind("kubeflow.org", "v2beta1", "mpijobs"), ("kubeflow", "job-1"))
    said: list[str] = []
    assert submit(connection, found, tell=said.append, timer=QUICK) is None
    assert said == ["what an earlier attempt has left of job-1 is removed"]
    assert made(cluster)


def test_a_stopped_job_keeps_its_name_and_goes_on_with_resume(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    first = request(name="job-1")
    submit(connection, first)
    resumed = request(name="job-1", launched=launch(resume=True))
    with pytest.raises(UsageError, match="It has not ended: end it"):
        submit(connection, resumed)
    stop(connection, "job-1", timer=QUICK)
    with pytest.raises(UsageError, match="or go on with that job: --resume"):
        submit(connection, request(name="job-1", retries=1))
    again = submit(connection, first)
    assert again is not None
    assert (again.status, again.is_removed) == ("checkpointed", True)
    assert submit(connection, resumed) is None
    annotations = made(cluster)["metadata"]["annotations"]
    assert annotations["mask-rcnn/fingerprint"] == resumed.fingerprint
    assert annotations["mask-rcnn/log"] == first.places.log


@pytest.mark.soak
def test_a_job_that_failed_makes_room_for_the_one_that_goes_on(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    submit(connection, request(name="job-1"))
    operator_waits_for(cluster, "job-1-worker-1")
    operator.end("job-1", code=1, message="CUDA error")
    later = replace(launch(resume=True), now=datetime.now(UTC) + timedelta(minutes=1))
    said: list[str] = []
    resumed = request(name="job-1", launched=later)
    assert submit(connection, resumed, tell=said.append) is None
    assert said == ["what is left of job-1 (failed) is removed first"]
    assert made(cluster)["metadata"]["annotations"]["mask-rcnn/fingerprint"] == resumed.fingerprint


def operator_waits_for(cluster: KubernetesServer, pod: str) -> None:
    with cluster.store.changed:
        assert cluster.store.changed.wait_for(lambda: pod in cluster.names("pods"), 20)
