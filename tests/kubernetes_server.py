"""A small API server for tests: what helm and kubectl need, and no node, so no pod ever runs.

Kubernetes' own server cannot be had from the registries as a binary. Objects are checked with
schemas that are not ours: those of Kubernetes (`kubernetes_validate`) and those of each custom
resource's definition. The real kubectl and helm talk to it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.kubernetes_http import Handler
from tests.kubernetes_objects import Kind, Object, Store

VERSION = "1.35"


@dataclass
class KubernetesServer:
    """One cluster without nodes.

    Attributes:
        kubeconfig: For kubectl and helm.
        store: The objects.
        logs: Of containers, (namespace, pod, container) to lines, each with its time before it.
        ended: Pods whose containers print no more: those who follow them come to an end.
        refusals: What to answer instead: (verb, plural) to code, reason and message.
        requests: Each request's method and path.
        workloads_succeed: Whether what is made gets a status as if controllers did their work.
    """

    kubeconfig: Path
    store: Store
    logs: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    ended: set[tuple[str, str]] = field(default_factory=set)
    refusals: dict[tuple[str, str], tuple[int, str, str]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    workloads_succeed: bool = True

    def put(self, given: Object) -> Object:
        """Make an object or put it in the place of another; status included."""
        group, _, version = given["apiVersion"].rpartition("/")
        kind = next(
            each
            for each in self.store.kinds
            if (each.group, each.version, each.kind) == (group, version, given["kind"])
        )
        namespace = given["metadata"].get("namespace", "kubeflow") if kind.namespaced else ""
        place = (namespace, given["metadata"]["name"])
        if place in self.store.of(kind):
            return self.store.replace(kind, place, given)
        return self.store.create(kind, namespace, given)

    def find(self, plural: str, name: str, namespace: str = "kubeflow") -> Object | None:
        """Return an object; of the whole cluster with an empty namespace."""
        kind = next(each for each in self.store.kinds if each.plural == plural)
        return self.store.of(kind).get((namespace if kind.namespaced else "", name))

    def names(self, plural: str) -> set[str]:
        """Return the names of all objects of a kind."""
        kinds = [each for each in self.store.kinds if each.plural == plural]
        return {name for kind in kinds for _, name in self.store.of(kind)}

    def say(self, pod: str, container: str, *lines: str, namespace: str = "kubeflow") -> None:
        """Let a container print lines; those without a time get one."""
        with self.store.changed:
            log = self.logs.setdefault((namespace, pod, container), [])
            log += [line if "Z " in line else f"2026-01-01T00:00:00Z {line}" for line in lines]
            self.store.changed.notify_all()

    def end(self, pod: str, namespace: str = "kubeflow") -> None:
        """Let a pod's containers print no more."""
        with self.store.changed:
            self.ended.add((namespace, pod))
            self.store.changed.notify_all()

    def _controllers(self, kind: Kind, made: Object) -> None:
        if self.workloads_succeed and (status := _status_of(kind, made)):
            made["status"] = {**made.get("status", {}), **status}


_ONE = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), 1)
_NONE = dict.fromkeys(
    ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled"), 0
)
_TIMES = {"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z"}


def _true(*names: str) -> list[Object]:
    return [{"type": name, "status": "True", "reason": "NewReplicaSetAvailable"} for name in names]


_DONE: dict[str, Object] = {
    "Deployment": {**_ONE, "conditions": _true("Available", "Progressing")},
    "DaemonSet": _NONE,
    "Job": {**_TIMES, "succeeded": 1, "conditions": _true("Complete")},
    "PersistentVolumeClaim": {"phase": "Bound"},
    "CustomResourceDefinition": {"conditions": _true("NamesAccepted", "Established")},
    "Namespace": {"phase": "Active"},
}
"""The status of what controllers have done their work for."""


def _status_of(kind: Kind, made: Object) -> Object | None:
    done = _DONE.get(kind.kind)
    return done and {**done, "observedGeneration": made["metadata"]["generation"]}


MPIJOB: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "mpijobs.kubeflow.org"},
    "spec": {
        "group": "kubeflow.org",
        "names": {"kind": "MPIJob", "plural": "mpijobs", "singular": "mpijob"},
        "scope": "Namespaced",
        "versions": [{"name": "v2beta1", "schema": {"openAPIV3Schema": {"type": "object"}}}],
    },
}
"""As much of the operator's definition as makes the kind known; the real one is its authors'."""


@contextmanager
def kubernetes_server(folder: Path) -> Iterator[KubernetesServer]:
    """Run a server; its kubeconfig is in the folder."""
    store = Store(VERSION)
    kubeconfig = folder / "kubeconfig"
    cluster = KubernetesServer(kubeconfig, store)
    store.on_change = cluster._controllers
    for name in ("default", "kube-system", "kubeflow"):
        cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    handler = type("OfCluster", (Handler,), {"cluster": cluster})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        kubeconfig.write_text(json.dumps(_kubeconfig(server.server_port)), encoding="utf-8")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield cluster
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KubernetesServer]:
    """A cluster with the namespace kubeflow and nothing in it."""
    with kubernetes_server(tmp_path) as found:
        yield found


def _kubeconfig(port: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "test", "user": {}}],
        "contexts": [
            {
                "name": "test",
                "context": {"cluster": "test", "user": "test", "namespace": "kubeflow"},
            }
        ],
        "current-context": "test",
    }
