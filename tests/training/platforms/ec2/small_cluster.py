"""The node's program of a cluster whose jobs end when a test says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.training.platforms.ec2.fake_head import host, status


@dataclass
class SmallCluster:
    """One job at a time, and requests known by their fingerprints."""

    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    output: str = "total_loss: 1.25\nmAP(segm)/IoU=0.5: 0.5\n"
    looks: int = 2
    """How often a job is asked after before it ends."""
    end: dict[str, Any] = field(default_factory=lambda: {"state": "completed", "exit_code": 0})
    started: int = 0

    def __call__(self, action: str, request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = getattr(self, f"_{action}")(request)
        return answer

    def _submit(self, request: dict[str, Any]) -> dict[str, Any]:
        name = request["name"]
        known = self.requests.get(name)
        if known is not None and known["fingerprint"] == request["fingerprint"]:
            return self.jobs[name]
        running = [job for job in self.jobs.values() if job["state"] == "running"]
        if running:
            return _refusal("busy", f"job {running[0]['name']} runs")
        if known is not None and not request["resume"]:
            return _refusal("usage", f"the name {name} is another job's")
        self.started += 1
        self.requests[name] = request
        hosts = [host(f"10.0.0.{number}") for number in range(request["workers"])]
        self.jobs[name] = status("running", name, hosts=hosts, step=40) | {"looks": 0}
        return self.jobs[name]

    def _status(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self.jobs.get(request["name"])
        if job is None:
            return _refusal("not-found", f"there is no job {request['name']} on this cluster")
        job["looks"] += 1
        if job["looks"] > self.looks and job["state"] == "running":
            job |= self.end
        return job

    def _list(self, request: dict[str, Any]) -> dict[str, Any]:
        # As the nodes do: nobody looks for hosts in a list.
        found = [{**job, "hosts": []} for job in reversed(self.jobs.values())]
        return {"jobs": found[: request["limit"]]}

    def _logs(self, request: dict[str, Any]) -> dict[str, Any]:
        data, offset = self.output.encode(), request["offset"]
        part = data[offset : offset + 15_000]
        return {"text": part.decode(), "next": offset + len(part), "done": False}

    def _stop(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self._status(request)
        if job.get("state") == "running":
            job["state"] = "stopping"
        return job


def _refusal(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message}}
