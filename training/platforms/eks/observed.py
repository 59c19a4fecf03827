"""A job as the API server has it: its MPIJob, the pods of that, what happened to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Object = Mapping[str, Any]
"""Of the Kubernetes API, as JSON."""

JOB_NAME = "training.kubeflow.org/job-name"
JOB_ROLE = "training.kubeflow.org/job-role"
"""Labels that the MPI Operator puts on a job's pods:
https://github.com/kubeflow/mpi-operator, pkg/apis/kubeflow/v2beta1/types.go"""
REPLICA_INDEX = "training.kubeflow.org/replica-index"


@dataclass(frozen=True)
class Pod:
    """One pod of a job."""

    object: Object

    @property
    def name(self) -> str:
        return str(self.object["metadata"]["name"])

    @property
    def index(self) -> int:
        """A worker's number."""
        text = str(self.object["metadata"].get("labels", {}).get(REPLICA_INDEX, ""))
        return int(text) if text.isdecimal() else 0

    @property
    def role(self) -> str:
        """`launcher` or `worker`."""
        return str(self.object["metadata"].get("labels", {}).get(JOB_ROLE, ""))

    @property
    def phase(self) -> str:
        return str(self._status.get("phase", "Unknown"))

    @property
    def is_active(self) -> bool:
        """Whether it runs or may yet, on a node that is paid for."""
        return self.phase not in {"Succeeded", "Failed"}

    @property
    def is_going(self) -> bool:
        """Whether it was deleted, and has its time to end."""
        return "deletionTimestamp" in self.object["metadata"]

    @property
    def created(self) -> datetime | None:
        return read_time(self.object["metadata"].get("creationTimestamp"))

    @property
    def started(self) -> datetime | None:
        """When its node took it."""
        return read_time(self._status.get("startTime"))

    @property
    def reason(self) -> str:
        """Why it failed as a whole, such as `Evicted`; empty where a container says it."""
        return str(self._status.get("reason") or "")

    @property
    def message(self) -> str:
        return str(self._status.get("message") or "")

    @property
    def node(self) -> str | None:
        found = self.object.get("spec", {}).get("nodeName")
        return None if found is None else str(found)

    @property
    def containers(self) -> Sequence[Object]:
        """The states of its containers, those that prepare it first."""
        status = self._status
        return (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ()))

    @property
    def restarts(self) -> int:
        return sum(int(each.get("restartCount", 0)) for each in self.containers)

    @property
    def exit_code(self) -> int | None:
        """How its first container with an end ended: the one that failed, where one has."""
        codes = [
            int(ended["exitCode"])
            for each in self.containers
            if (ended := each.get("state", {}).get("terminated"))
        ]
        return next((code for code in codes if code), codes[0] if codes else None)

    def condition(self, kind: str) -> Object | None:
        found = (each for each in self._status.get("conditions", ()) if each.get("type") == kind)
        return next(found, None)

    @property
    def _status(self) -> Object:
        status: Object = self.object.get("status", {})
        return status


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What there is of one job at one moment."""

    mpijob: Object
    pods: Sequence[Pod]
    """The launcher's, of which there is another after each failure, and the workers'."""
    events: Sequence[Object]
    """Of the namespace, newest last; Kubernetes forgets them after an hour."""

    @property
    def name(self) -> str:
        return str(self.mpijob["metadata"]["name"])

    @property
    def launchers(self) -> list[Pod]:
        """Oldest first."""
        found = [each for each in self.pods if each.role == "launcher"]
        return sorted(found, key=lambda pod: str(pod.object["metadata"]["creationTimestamp"]))

    @property
    def workers(self) -> list[Pod]:
        return sorted((e for e in self.pods if e.role == "worker"), key=lambda pod: pod.index)

    @property
    def wanted_workers(self) -> int:
        specs = self.mpijob["spec"].get("mpiReplicaSpecs", {})
        return int(specs.get("Worker", {}).get("replicas", 0))

    @property
    def annotations(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.mpijob["metadata"].get("annotations") or {}
        return found

    def condition(self, kind: str) -> Object | None:
        """Return a condition of the MPIJob that holds now."""
        conditions = self.mpijob.get("status", {}).get("conditions") or ()
        found = (e for e in conditions if e.get("type") == kind and e.get("status") == "True")
        return next(found, None)

    def events_of(self, *names: str) -> Iterator[Object]:
        """Yield what happened to objects of these names, newest last."""
        for event in self.events:
            if event.get("involvedObject", {}).get("name") in names:
                yield event


def read_time(text: str | None) -> datetime | None:
    """Return a time as the API writes it, in UTC."""
    return datetime.fromisoformat(text) if text else None
