"""Stands in for the MPI Operator and the nodes: it makes a job's pods, and ends them when asked."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.recorded import condition, container, pod
from training.platforms.eks.observed import JOB_NAME

LOOK_S = 0.02


@dataclass
class SmallOperator:
    """What it does is set by its fields, at any time."""

    server: KubernetesServer
    last_words: str = "exit code 75: stopped by SIGTERM, with a checkpoint at step 40"
    """Of a launcher that is asked to end."""
    starts_pods: bool = True
    ends_pods: bool = True
    """Whether those that are asked to end do."""
    is_over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.is_over.wait(LOOK_S):
            with self.server.store.changed:
                self._look()

    def end(self, name: str, *, code: int, message: str) -> None:
        """Let a job's launcher end by itself, and its workers with it."""
        with self.server.store.changed:
            job = self._job(name)
            (launcher,) = (each for each in self._pods(name) if "launcher" in each)
            done = copy.deepcopy(self.server.find("pods", launcher))
            assert done is not None
            state = {"terminated": {"exitCode": code, "reason": "Error", "message": message}}
            phase = "Failed" if code else "Succeeded"
            done["status"] = {"phase": phase, "containerStatuses": [container("launcher", state)]}
            self.server.put(done)
            for each in self._pods(name):
                self.server.end(each)
                if "worker" in each:
                    self._delete("pods", each)
            ended = (
                condition("Failed", "BackoffLimitExceeded/", "Job has reached its limit")
                if code
                else condition("Succeeded")
            )
            self._set(job, condition("Created"), ended, completionTime="2026-01-02T05:04:05Z")

    def _look(self) -> None:
        for name in self.server.names("mpijobs"):
            job = self._job(name)
            if job["spec"]["runPolicy"].get("suspend"):
                self._let_go(name)
            elif self.starts_pods and not job.get("status", {}).get("conditions"):
                self._start(job)
        for each in self.server.names("pods"):
            owner = (self.server.find("pods", each) or {})["metadata"]["labels"][JOB_NAME]
            if owner not in self.server.names("mpijobs") and self.ends_pods:
                self._delete("pods", each)

    def _start(self, job: dict[str, Any]) -> None:
        name = job["metadata"]["name"]
        workers = job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"]
        for each in (pod("launcher"), *(pod("worker", number) for number in range(workers))):
            each["metadata"]["name"] = each["metadata"]["name"].replace("job-1", name)
            each["metadata"]["labels"][JOB_NAME] = name
            self.server.put(each)
        self.server.say(f"{name}-launcher-a0", "launcher", "entrypoint: both workers are there")
        self._set(job, condition("Created"), condition("Running"))

    def _let_go(self, name: str) -> None:
        if not self.ends_pods:
            return
        for each in self._pods(name):
            if "launcher" in each and self.last_words:
                line = f"9999-01-02T04:00:00Z entrypoint: {self.last_words}"
                self.server.say(each, "launcher", line)
            self.server.end(each)
            self._delete("pods", each)

    def _set(self, job: dict[str, Any], *conditions: dict[str, Any], **status: Any) -> None:
        found = {**job.get("status", {}), **status, "conditions": [*conditions]}
        self.server.put({**job, "status": found})

    def _job(self, name: str) -> dict[str, Any]:
        found = self.server.find("mpijobs", name)
        assert found is not None
        return copy.deepcopy(found)

    def _pods(self, job: str) -> list[str]:
        return sorted(each for each in self.server.names("pods") if each.startswith(f"{job}-"))

    def _delete(self, plural: str, name: str) -> None:
        store = self.server.store
        store.delete(store.kind("", "v1", plural), ("kubeflow", name))


@contextmanager
def operating(server: KubernetesServer) -> Iterator[SmallOperator]:
    """Let it work on a server."""
    operator = SmallOperator(server)
    thread = threading.Thread(target=operator.run, daemon=True)
    thread.start()
    try:
        yield operator
    finally:
        operator.is_over.set()
        thread.join()
