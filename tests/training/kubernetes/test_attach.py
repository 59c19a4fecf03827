from __future__ import annotations

import json
import threading
import time

import pytest

from tests.kubernetes_server import KubernetesServer
from tests.training.kubernetes.in_cluster import InCluster

_RUNS = {"phase": "Running"}


@pytest.fixture(autouse=True)
def claims(inside: InCluster) -> None:
    """The volumes that `install` makes."""
    for name in ("mask-rcnn-efs", "mask-rcnn-fsx"):
        inside.server.put(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": name},
                "spec": {
                    "accessModes": ["ReadWriteMany"],
                    "resources": {"requests": {"storage": "1Ti"}},
                },
            }
        )


def _soon(server: KubernetesServer, pods: set[str], status: object) -> threading.Thread:
    """Set the status of pods as soon as they are there, as a kubelet does."""

    def work() -> None:
        deadline = time.monotonic() + 30
        while not pods <= server.names("pods") and time.monotonic() < deadline:
            time.sleep(0.02)
        for name in pods:
            pod = server.find("pods", name)
            assert pod is not None
            server.put({**pod, "status": status})

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_attach_makes_the_pods_and_tells_the_command_of_a_shell(inside: InCluster) -> None:
    pods = {"attach-pvc", "attach-pvc-fsx"}
    _soon(inside.server, pods, _RUNS)
    code, text = inside.run("attach", "--image", "a.b/c:1", "--format", "json")
    assert code == 0, inside.said
    assert set(json.loads(text)["commands"]) == {
        f"kubectl exec -it -n kubeflow {pod} -- /bin/bash" for pod in pods
    }
    assert inside.run("attach", "--end")[0] == 0
    assert inside.server.names("pods") == set()


def test_an_end_of_nothing_is_told(inside: InCluster) -> None:
    assert inside.run("attach", "--end")[0] == 0
    assert "nothing to end: attach has no pods here" in inside.said
    assert "the pods end" not in inside.said


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {
                "phase": "Pending",
                "containerStatuses": [
                    {"state": {"waiting": {"reason": "ErrImagePull", "message": "a.b/c:1: 404"}}}
                ],
            },
            "ErrImagePull a.b/c:1: 404",
        ),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/2 nodes are available",
                    }
                ],
            },
            "Unschedulable 0/2 nodes are available",
        ),
    ],
)
def test_pods_that_do_not_run_are_told_with_the_reason(
    inside: InCluster, status: object, said: str
) -> None:
    _soon(inside.server, {"attach-pvc", "attach-pvc-fsx"}, status)
    assert inside.run("attach", "--image", "a.b/c:1", "--wait", "3")[0] == 1
    assert said in inside.said
    assert "attach --end" in inside.said


def test_a_wrong_image_leaves_the_pods_of_before(inside: InCluster) -> None:
    pods = {"attach-pvc", "attach-pvc-fsx"}
    _soon(inside.server, pods, _RUNS)
    assert inside.run("attach")[0] == 0, inside.said
    assert inside.run("attach", "--image", "Debian 12")[0] == 2
    assert "--image: 'Debian 12': on platform eks an image is named" in inside.said
    assert pods <= inside.server.names("pods")
