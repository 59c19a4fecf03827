"""Objects of a job as the API server has them at its stages; the operator writes such conditions.

What Kubernetes itself makes is checked with its own schemas, in test_state.py.
"""

from __future__ import annotations

import copy
from typing import Any

from training.platforms.eks.observed import JOB_NAME, JOB_ROLE, REPLICA_INDEX, Observed, Pod

Object = dict[str, Any]

NAME = "job-1"
CREATED = "2026-01-02T03:04:05Z"
IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/horovod:1"


def mpijob(*conditions: Object, workers: int = 2, **spec: Any) -> Object:
    """Return the MPIJob, with the operator's conditions, the newest last."""
    ended = any(
        each["type"] == "Succeeded" or each.get("reason") not in {None, "MPIJobEvicted"}
        for each in conditions
        if each["type"] in {"Succeeded", "Failed"}
    )
    status: Object = {"conditions": list(conditions), "startTime": CREATED}
    if ended:
        status["completionTime"] = "2026-01-02T05:04:05Z"
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {
            "name": NAME,
            "namespace": "kubeflow",
            "creationTimestamp": CREATED,
            "labels": {"app.kubernetes.io/part-of": "mask-rcnn"},
            "annotations": {
                "mask-rcnn/fingerprint": "f" * 64,
                "mask-rcnn/log": "/efs/mask-rcnn/sagemaker/output/log-job-1",
            },
        },
        "spec": {"mpiReplicaSpecs": {"Worker": {"replicas": workers}}, "runPolicy": {}, **spec},
        "status": status if conditions else {},
    }


def condition(
    kind: str, reason: str | None = None, message: str = "", status: str = "True"
) -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason or f"MPIJob{kind}",
        "message": message,
        "lastTransitionTime": "2026-01-02T04:04:05Z",
    }


CREATED_CONDITION = condition("Created")
RUNNING = condition("Running")


def pod(role: str, index: int = 0, *, phase: str = "Running", **changes: Any) -> Object:
    """Return a pod; `changes` go into its status, but for `node` and `created`."""
    name = f"{NAME}-worker-{index}" if role == "worker" else f"{NAME}-launcher-a{index}"
    created = changes.pop("created", CREATED)
    node = changes.pop("node", f"ip-10-0-0-{index}.internal" if phase != "Pending" else None)
    labels = {JOB_NAME: NAME, JOB_ROLE: role, "app.kubernetes.io/part-of": "mask-rcnn"}
    if role == "worker":
        labels[REPLICA_INDEX] = str(index)
    state: Object = {"running": {"startedAt": CREATED}}
    if phase == "Pending":
        state = {"waiting": {"reason": "ContainerCreating"}}
    if phase == "Failed":
        state = {"terminated": {"exitCode": 1, "reason": "Error"}}
    if phase == "Succeeded":
        state = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "kubeflow",
            "creationTimestamp": created,
            "labels": labels,
        },
        "spec": {
            "containers": [{"name": role, "image": IMAGE}],
            "terminationGracePeriodSeconds": 120,
            **({"nodeName": node} if node else {}),
        },
        "status": {
            "phase": phase,
            "containerStatuses": [container(role, state)],
            **({"startTime": created} if node else {}),
            **changes,
        },
    }


def container(name: str, state: Object, *, restarts: int = 0, last: Object | None = None) -> Object:
    return {
        "name": name,
        "image": IMAGE,
        "imageID": "",
        "ready": "running" in state,
        "restartCount": restarts,
        "state": state,
        **({"lastState": last} if last else {}),
    }


def unschedulable(message: str) -> Object:
    """Return the status of a pod that has no node."""
    return {
        "containerStatuses": [],
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": message,
            }
        ],
    }


def event(name: str, reason: str, message: str, *, at: str = CREATED, kind: str = "Pod") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason.lower()}.{at[11:19].replace(':', '')}",
                     "namespace": "kubeflow", "creationTimestamp": at},
        "involvedObject": {"kind": kind, "name": name, "namespace": "kubeflow"},
        "reason": reason,
        "message": message,
        "type": "Warning",
        "lastTimestamp": at,
    }  # fmt: skip


def observed(job: Object, *pods: Object, events: tuple[Object, ...] = ()) -> Observed:
    return Observed(
        mpijob=copy.deepcopy(job), pods=[Pod(copy.deepcopy(each)) for each in pods], events=events
    )
