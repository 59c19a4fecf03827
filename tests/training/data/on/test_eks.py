from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes_server import KubernetesServer, cluster
from tests.training.data.on.samples import errand, outputs
from tests.training.platforms.eks.planning import outputs as with_kubernetes
from tests.training.platforms.eks.planning import plan as launch_plan
from tests.training.platforms.sagemaker.clockwork import Clockwork
from training.data.on import eks
from training.data.on.release import Run
from training.data.places import Place
from training.errors import AwsError, Interrupted, PreflightError, UsageError
from training.kubernetes.errors import KubernetesRefused
from training.platforms.common.patience import Timer

__all__ = ["cluster"]

NAME = "stage-one"


@pytest.fixture(autouse=True)
def claims(cluster: KubernetesServer) -> None:
    """What charts/cluster makes; no controller does its work, since there is none."""
    cluster.workloads_succeed = False
    for name in ("efs", "fsx"):
        cluster.put(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": f"mask-rcnn-{name}", "namespace": "kubeflow"},
                "spec": {
                    "accessModes": ["ReadWriteMany"],
                    "storageClassName": "",
                    "volumeName": f"mask-rcnn-{name}",
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }
        )


def values(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = eks.plan(errand(**changes), outputs()).request["values"]
    return found


def run(cluster: KubernetesServer, tell: list[str] | None = None) -> Run:
    told = [] if tell is None else tell
    return Run(cluster.kubeconfig, "kubeflow", NAME, told.append, Clockwork().timer)


def put_pod(cluster: KubernetesServer, state: dict[str, Any], *lines: str) -> None:
    """Have the Job's pod be in a state, and its container have printed lines."""
    image = {"image": "a", "imageID": "a", "name": "data", "ready": False, "restartCount": 0}
    cluster.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{NAME}-abcde",
                "namespace": "kubeflow",
                "labels": {"job-name": NAME},
            },
            "spec": {"containers": [{"name": "data", "image": "a"}]},
            "status": {"containerStatuses": [{**image, "state": state}]},
        }
    )
    cluster.say(f"{NAME}-abcde", "data", *lines)
    cluster.end(f"{NAME}-abcde")


def put_end(cluster: KubernetesServer, kind: str, reason: str | None = None) -> None:
    job = cluster.find("jobs", NAME)
    assert job is not None
    condition = {"type": kind, "status": "True", **({"reason": reason} if reason else {})}
    cluster.put({**job, "status": {"conditions": [condition]}})


def terminated(code: int, message: str = "") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "message": message}}


def test_the_job_that_helm_sends_is_followed_and_taken_away(cluster: KubernetesServer) -> None:
    lines: list[str] = []
    once = run(cluster)
    once.start(eks.CHART, values())
    job = cluster.find("jobs", NAME)
    assert job is not None
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"][:4] == ["data", "stage", "--to", "efs"]
    assert "/efs" in {each["mountPath"] for each in container["volumeMounts"]}
    told = cluster.find("configmaps", f"{NAME}-job")
    assert told is not None
    assert "fs-0123456789abcdef0" in told["data"]["hyperparameters.json"]
    put_pod(cluster, terminated(0), "Staging: 50%", 'mask-rcnn-result: {"files": 1}')
    put_end(cluster, "Complete")
    once.follow(lines.append)
    assert lines == ["Staging: 50%", 'mask-rcnn-result: {"files": 1}']
    assert cluster.find("jobs", NAME) is None


def test_a_request_that_comes_twice_makes_one_job(cluster: KubernetesServer) -> None:
    told: list[str] = []
    run(cluster).start(eks.CHART, values())
    run(cluster, told).start(eks.CHART, values())
    assert told == [f"{NAME} is there already, from the same request: no other was started"]
    with pytest.raises(UsageError, match="another release of that name"):
        run(cluster).start(eks.CHART, values(jobs=9))


def test_the_end_is_that_of_the_command_there(cluster: KubernetesServer) -> None:
    once = run(cluster)
    once.start(eks.CHART, values())
    put_pod(cluster, terminated(3, "error: 5 GB are to be copied and 1 GB are free"))
    put_end(cluster, "Failed", "PodFailurePolicy")
    with pytest.raises(PreflightError, match="1 GB are free"):
        once.follow(lambda _: None)
    assert cluster.find("jobs", NAME) is None


def test_its_time_limit_and_somebodys_uninstall_are_stops(cluster: KubernetesServer) -> None:
    once = run(cluster)
    once.start(eks.CHART, values())
    put_end(cluster, "Failed", "DeadlineExceeded")
    with pytest.raises(Interrupted, match="its time limit"):
        once.follow(lambda _: None)
    with pytest.raises(Interrupted, match="somebody has taken it away"):
        run(cluster).follow(lambda _: None)


def test_of_two_who_watch_one_run_the_second_is_not_told_that_it_was_stopped(
    cluster: KubernetesServer,
) -> None:
    once, second = run(cluster), run(cluster)
    once.start(eks.CHART, values())
    put_pod(cluster, terminated(0))
    put_end(cluster, "Complete")
    once.follow(lambda _: None)
    with pytest.raises(Interrupted, match="is gone: the same command elsewhere saw its end"):
        second.follow(lambda _: None)


def test_a_release_without_its_job_does_not_keep_the_name(cluster: KubernetesServer) -> None:
    """The same command would find it for ever, and never start anything."""
    once = run(cluster)
    once.start(eks.CHART, values())
    cluster.store.delete(cluster.store.kind("batch", "v1", "jobs"), ("kubeflow", NAME))
    with pytest.raises(Interrupted, match="somebody has taken it away"):
        once.follow(lambda _: None)
    told: list[str] = []
    run(cluster, told).start(eks.CHART, values())
    assert told == []
    assert cluster.find("jobs", NAME) is not None


def test_how_it_ended_matters_more_than_what_stays(cluster: KubernetesServer) -> None:
    told: list[str] = []
    once = run(cluster, told)
    once.start(eks.CHART, values())
    put_pod(cluster, terminated(3, "error: no room"))
    put_end(cluster, "Failed", "PodFailurePolicy")
    cluster.refusals["delete", "jobs"] = (403, "Forbidden", "jobs is forbidden")
    with pytest.raises(PreflightError, match="no room"):
        once.follow(lambda _: None)
    assert f"The release {NAME} stays; take it away: helm uninstall {NAME}" in told[-1]


def test_a_cluster_that_is_busy_is_asked_again(cluster: KubernetesServer) -> None:
    told: list[str] = []
    once = run(cluster, told)
    once.start(eks.CHART, values())
    put_pod(cluster, terminated(0), "done")
    put_end(cluster, "Complete")
    cluster.refusals["get", "jobs"] = (429, "TooManyRequests", "slow down")
    once.timer = Timer(sleep=lambda _: cluster.refusals.clear())
    lines: list[str] = []
    once.follow(lines.append)
    assert lines == ["done"]
    assert "slow down" in told[0]
    assert "The run goes on meanwhile: trying again" in told[0]


@pytest.mark.parametrize("reason", ["NotFound", "InternalError"])
def test_a_log_that_is_gone_hides_no_end(
    reason: str, cluster: KubernetesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its node has left: the pod is still told of, its log is not there any more."""

    def gone(*_: Any, **__: Any) -> None:
        raise KubernetesRefused('pods "x" not found', reason)

    once = run(cluster)
    minutes = iter(range(9))
    once.timer = Timer(now=lambda: 60.0 * next(minutes), sleep=lambda _: None)
    once.start(eks.CHART, values())
    put_pod(cluster, terminated(3, "error: no room"))
    put_end(cluster, "Failed", "PodFailurePolicy")
    monkeypatch.setattr("training.kubernetes.client.Kubernetes.log", gone)
    with pytest.raises(PreflightError, match="no room"):
        once.follow(lambda _: None)


def test_a_log_that_may_not_be_read_ends_the_watching(
    cluster: KubernetesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: Any, **__: Any) -> None:
        raise KubernetesRefused("pods/log is forbidden", "Forbidden")

    once = run(cluster)
    once.start(eks.CHART, values())
    put_pod(cluster, {"running": {}})
    monkeypatch.setattr("training.kubernetes.client.Kubernetes.log", denied)
    with pytest.raises(AwsError, match=f"forbidden.*the same command with --name {NAME}"):
        once.follow(lambda _: None)


def test_why_it_waits_is_told_once(cluster: KubernetesServer) -> None:
    told: list[str] = []
    once = run(cluster, told)
    once.start(eks.CHART, values())
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    put_pod(cluster, waiting)

    def sleep(_: float) -> None:
        if len(pauses) == 2:
            put_pod(cluster, terminated(0))
            put_end(cluster, "Complete")
        pauses.append(1)

    pauses: list[int] = []
    once.timer = Clockwork().timer.__class__(sleep=sleep)
    once.follow(lambda _: None)
    assert told == [f"{NAME}: ImagePullBackOff no such image"]


def test_the_chart_takes_the_volumes_that_the_copy_needs() -> None:
    assert values()["volumes"] == {"efs": True, "fsx": False}
    both = values(from_place=Place.EFS, to=Place.FSX)
    assert both["volumes"] == {"efs": True, "fsx": True}
    assert (Path(eks.CHART) / "Chart.yaml").is_file()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ClusterArn", "x"),
        ("ClusterArn", "arn:aws:eks::123456789012:cluster/a"),
        ("ClusterArn", "arn:aws:s3:us-west-2:123456789012:cluster/a"),
        ("Namespace", "Kube flow"),
        ("Namespace", "kubeflow-"),
        ("KubernetesVersion", "one"),
    ],
)
def test_outputs_that_a_launch_refuses_are_refused_with_its_words(key: str, value: str) -> None:
    stacks = with_kubernetes(**{key: value})
    with pytest.raises(UsageError) as of_launch:
        launch_plan(stacks=stacks)
    with pytest.raises(UsageError) as of_stage:
        eks.plan(errand(), stacks)
    said = str(of_stage.value).replace("stage-data", "maskrcnn-horovod")
    assert said == str(of_launch.value)
    assert f"KubernetesStack.{key}" in said
    assert value in said


def test_a_copy_without_a_file_system_is_refused_with_a_way_out() -> None:
    from_s3_to_s3 = errand(source="s3://other/set", to=Place.S3)
    with pytest.raises(UsageError, match="Leave --on out, or take sagemaker or ec2"):
        eks.plan(from_s3_to_s3, outputs())


def test_an_image_that_the_chart_refuses_is_refused_before() -> None:
    with pytest.raises(UsageError, match="--image: 'foo': on platform eks an image is named"):
        eks.plan(replace(errand(), image="foo"), outputs())
