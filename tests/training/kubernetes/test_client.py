from __future__ import annotations

import threading

import pytest

from tests.kubernetes_server import KubernetesServer
from training.kubernetes.client import Kubernetes
from training.kubernetes.errors import KubernetesRefused

_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one", "labels": {"job": "a", "role": "worker"}},
    "spec": {"containers": [{"name": "main", "image": "a.b/c:1"}]},
}


@pytest.fixture
def client(cluster: KubernetesServer) -> Kubernetes:
    cluster.put(_POD)
    return Kubernetes(cluster.kubeconfig, "kubeflow")


def test_objects_are_read_by_name_and_by_label(client: Kubernetes) -> None:
    one = client.get("pods", "one")
    assert one is not None
    assert one["spec"]["containers"][0]["image"] == "a.b/c:1"
    assert client.get("pods", "two") is None
    assert [each["metadata"]["name"] for each in client.list("pods", selector="job=a")] == ["one"]
    assert client.list("pods", selector="job=a,role!=worker") == []
    assert client.list("pods", namespace="default") == []
    assert len(client.list("pods", everywhere=True)) == 1


def test_a_change_is_merged_and_an_end_is_asked_for(client: Kubernetes) -> None:
    client.patch("pods", "one", {"metadata": {"labels": {"job": None, "more": "yes"}}})
    changed = client.get("pods", "one")
    assert changed is not None
    assert changed["metadata"]["labels"] == {"role": "worker", "more": "yes"}
    with pytest.raises(KubernetesRefused) as refused:
        client.patch("pods", "two", {"metadata": {}})
    assert refused.value.reason == "NotFound"
    client.delete("pods", "one", "two")
    assert client.list("pods") == []


def test_a_log_is_followed_until_its_pod_ends(
    client: Kubernetes, cluster: KubernetesServer
) -> None:
    cluster.say("one", "main", "first")
    with client.log("one", "main", follow=True) as lines:
        read = iter(lines)
        assert next(read) == "2026-01-01T00:00:00Z first"
        cluster.say("one", "main", "2026-01-01T00:00:05Z second")
        cluster.end("one")
        assert list(read) == ["2026-01-01T00:00:05Z second"]
    with client.log("one", "main", since_time="2026-01-01T00:00:05Z", timestamps=False) as lines:
        assert list(lines) == ["second"]


def test_another_thread_may_end_a_log_that_is_followed(
    client: Kubernetes, cluster: KubernetesServer
) -> None:
    cluster.say("one", "main", "first")
    with client.log("one", "main", follow=True, timestamps=False) as lines:
        read = iter(lines)
        assert next(read) == "first"
        threading.Timer(0.2, lines.end).start()
        assert list(read) == []


def test_the_log_of_a_pod_that_is_not_there_is_refused(client: Kubernetes) -> None:
    with client.log("two", "main") as lines, pytest.raises(KubernetesRefused, match="not found"):
        list(lines)
