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
from training.errors import Interrupted, PreflightError, UsageError

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
    with pytest.raises(Interrupted, match="somebody has uninstalled it"):
        run(cluster).follow(lambda _: None)


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


def test_an_image_that_the_chart_refuses_is_refused_before() -> None:
    with pytest.raises(UsageError, match="--image: 'foo': on platform eks an image is named"):
        eks.plan(replace(errand(), image="foo"), outputs())
