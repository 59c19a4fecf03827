"""Why a job's pods do not run, or what ended them, in words that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from training.platforms.eks.commands import INSTALL
from training.platforms.eks.observed import Object, Observed, Pod

IMAGE_REASONS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
    }
)
"""https://github.com/kubernetes/kubernetes/blob/v1.35.0/pkg/kubelet/images/types.go"""

_BROKEN = frozenset(
    {"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}
)

_LOST = frozenset({"Evicted", "Preempting", "Shutdown", "NodeShutdown", "Terminated", "NodeLost"})
"""Reasons of a pod that its node, or the control plane, has ended."""

_QUOTA = re.compile(
    r"exceeded quota: (?P<name>[^,]+), requested: (?P<asked>.+?), used: (?P<used>.+?), "
    r"limited: (?P<limited>[^\n]+)"
)
"""As https://github.com/kubernetes/kubernetes/blob/v1.35.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go
writes it."""

_MISSING_CLAIM = re.compile(r'persistentvolumeclaim "(?P<name>[^"]+)" not found')
_LACKING = re.compile(r"Insufficient (?P<what>[a-z0-9./-]+)")
_TAINT = re.compile(r"untolerated taint(?:\(s\))? ?\{(?P<taint>[^}]*)\}")

_MOST_CHARACTERS = 400
"""Of what Kubernetes says, in a message of ours."""


@dataclass(frozen=True)
class Reason:
    """Something that keeps a pod from running, or has ended it."""

    pod: str | None
    """None where it is about the job as a whole."""
    text: str
    is_fault: bool
    """Whether it does not pass by itself: nodes that are being started do."""


def why_waiting(observed: Observed) -> list[Reason]:
    """Return why pods of a job are not there or do not run yet; what needs somebody comes first."""
    found = [*_of_quota(observed)]
    for pod in observed.pods:
        if pod.phase == "Pending" and not pod.is_going:
            found += _of_pending(observed, pod)
        elif pod.phase == "Running":
            found += _of_containers(pod)
    return sorted(found, key=lambda reason: not reason.is_fault)


def what_ended(pod: Pod) -> str | None:
    """Return what ended a pod that did not end by itself with 0; None where nothing is told."""
    if pod.reason:
        on = f" from {pod.node}" if pod.node and pod.reason == "Evicted" else ""
        return f"{pod.name}: {pod.reason}{on}{_said(pod.message)}"
    for container in pod.containers:
        for state in ("state", "lastState"):
            ended = container.get(state, {}).get("terminated")
            if ended and ended.get("reason") == "OOMKilled":
                return f"{pod.name}: OOMKilled, its container used more memory than its limit"
            if ended and ended.get("exitCode"):
                return f"{pod.name}: exit code {ended['exitCode']}{_said(ended.get('message'))}"
    disrupted = pod.condition("DisruptionTarget")
    if disrupted and disrupted.get("status") == "True":
        return f"{pod.name}: {disrupted.get('reason')}{_said(disrupted.get('message'))}"
    return None


def is_lost(pod: Pod) -> bool:
    """Return whether something other than its own process ended a pod."""
    disrupted = pod.condition("DisruptionTarget")
    return pod.phase == "Failed" and (
        pod.reason in _LOST or bool(disrupted and disrupted.get("status") == "True")
    )


def in_words(reasons: Iterable[Reason]) -> str | None:
    """Return reasons as one text, those of many pods with the same cause as one; None for none."""
    pods: dict[str, list[str]] = {}
    for reason in reasons:
        pods.setdefault(reason.text, []).extend([reason.pod] if reason.pod else [])
    texts = [f"{_listed(names)}: {text}" if names else text for text, names in pods.items()]
    return "; ".join(texts) or None


def _of_quota(observed: Observed) -> Iterator[Reason]:
    """Yield quotas of the namespace that keep pods from being made at all."""
    # A refusal from before there were pods is history.
    if len(observed.workers) >= observed.wanted_workers and observed.launchers:
        return
    seen = set()
    for event in observed.events_of(observed.name, f"{observed.name}-launcher"):
        match = _QUOTA.search(str(event.get("message", "")))
        if match and match["name"] not in seen:
            seen.add(match["name"])
            yield Reason(
                None,
                f"resource quota {match['name']} of the namespace is exceeded: the job asks for "
                f"{match['asked']}, used are {match['used']} of {match['limited']}. Wait until "
                "other jobs have ended, take fewer nodes, or have the quota raised",
                is_fault=True,
            )


def _of_pending(observed: Observed, pod: Pod) -> Iterator[Reason]:
    scheduled = pod.condition("PodScheduled")
    if scheduled and scheduled.get("status") == "False":
        yield _unschedulable(observed, pod, str(scheduled.get("message") or ""))
        return
    found = list(_of_containers(pod))
    yield from found or _of_mounts(observed, pod)


def _unschedulable(observed: Observed, pod: Pod, message: str) -> Reason:
    """Judge by what the scheduler, and then the autoscaler, said last."""
    # What follows is about pods that could be put out, of which there are none.
    said = message.partition(" preemption:")[0].rstrip(". ")
    claim = _MISSING_CLAIM.search(said)
    if claim:
        text = f"the volume claim {claim['name']} is not there: {INSTALL} makes it"
        return Reason(pod.name, text, is_fault=True)
    if "unbound immediate PersistentVolumeClaims" in said:
        text = f"a volume claim of it is not bound ({said}); see: kubectl get pvc. {INSTALL}"
        return Reason(pod.name, text, is_fault=True)
    wanting = ", ".join(dict.fromkeys(_wanting(said))) or _cut(said)
    scaling = _scaling(observed, pod)
    if scaling is not None and scaling.get("reason") == "TriggeredScaleUp":
        text = f"waits for a node that is being started ({wanting})"
        return Reason(pod.name, text, is_fault=False)
    if scaling is not None:
        why = _cut(str(scaling.get("message", "")).partition(": ")[2] or "no group fits")
        text = f"unschedulable: {wanting}; the autoscaler starts no node: {why}"
        return Reason(pod.name, text, is_fault=True)
    return Reason(pod.name, f"unschedulable: {wanting}", is_fault="zone" in wanting)


def _wanting(said: str) -> Iterator[str]:
    """Yield what the scheduler found lacking, in words."""
    for match in _LACKING.finditer(said):
        yield f"no node has enough {match['what']} free"
    if "volume node affinity conflict" in said:
        yield "its volume is in another availability zone than the nodes"
    for match in _TAINT.finditer(said):
        yield f"nodes with the taint {match['taint'].replace(': ', '=')} are not for it"
    if "didn't match Pod's node affinity/selector" in said:
        yield "no node of the job's kind is there"
    if "no nodes available to schedule pods" in said:
        yield "the cluster has no node"


def _scaling(observed: Observed, pod: Pod) -> Object | None:
    """Return what the cluster autoscaler said last of a pod.

    https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md, "What events"
    """
    found = [
        event
        for event in observed.events_of(pod.name)
        if event.get("reason") in {"TriggeredScaleUp", "NotTriggerScaleUp"}
    ]
    return found[-1] if found else None


def _of_containers(pod: Pod) -> Iterator[Reason]:
    for container in pod.containers:
        waiting: dict[str, Any] = container.get("state", {}).get("waiting") or {}
        reason, message = waiting.get("reason"), waiting.get("message")
        if reason in IMAGE_REASONS:
            text = f"image {container.get('image')} cannot be pulled: {reason}{_said(message)}"
            yield Reason(pod.name, text, is_fault=True)
        elif reason in _BROKEN:
            before = what_ended(pod) if reason == "CrashLoopBackOff" else None
            text = f"{reason}{_said(message)}{f' ({before})' if before else ''}"
            yield Reason(pod.name, text, is_fault=True)


def _of_mounts(observed: Observed, pod: Pod) -> Iterator[Reason]:
    """Yield a volume that cannot be mounted, of a pod that has its node and waits."""
    for event in reversed(list(observed.events_of(pod.name))):
        if event.get("reason") in {"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"}:
            text = f"{event['reason']}{_said(event.get('message'))}"
            yield Reason(pod.name, text, is_fault=True)
            return


def _listed(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - 3} more" if len(unique) > 3 else ""
    return ", ".join(unique[:3]) + more


def _said(message: Any) -> str:
    return f" ({_cut(str(message))})" if message else ""


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
