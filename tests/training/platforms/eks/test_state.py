"""How a job is doing, read from the objects that the API server has of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kubernetes_validate import validate

from tests.training.platforms.eks.recorded import (
    CREATED,
    CREATED_CONDITION,
    IMAGE,
    RUNNING,
    condition,
    container,
    event,
    mpijob,
    observed,
    pod,
    unschedulable,
)
from training.platforms.eks.observed import Observed
from training.platforms.eks.state import JobState, read_state

NOW = datetime.fromisoformat(CREATED) + timedelta(hours=1)

QUOTA = (
    'worker pod created failed: pods "job-1-worker-1" is forbidden: exceeded quota: team, '
    "requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: "
    "requests.nvidia.com/gpu=12"
)
LIMIT = "its time limit was reached (limits.max_run_s and eks.workers_wait_s together)"
NO_GPU = (
    "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint "
    "{node.kubernetes.io/unreachable: }. preemption: 0/3 nodes are available: 3 No preemption "
    "victims found for incoming pod."
)
FULL = "pod didn't trigger scale-up: 1 max node group size reached"


def ended(code: int, message: str = "", reason: str = "Error") -> dict[str, Any]:
    """Return the status of a pod whose container has ended."""
    state = {"exitCode": code, "reason": reason, **({"message": message} if message else {})}
    return {"containerStatuses": [container("launcher", {"terminated": state})]}


def waiting(reason: str, message: str) -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {"containerStatuses": [container("worker", state)]}


def read(found: Observed, now: datetime = NOW) -> JobState:
    return read_state(found, now=now)


BOTH_RUN = (pod("worker", 0), pod("worker", 1))


def test_what_is_recorded_here_is_what_kubernetes_has() -> None:
    for each in (pod("launcher"), pod("worker", 1, phase="Failed"), pod("worker", phase="Pending")):
        validate(each, "1.35", strict=True)
    validate(event("job-1", "MPIJobFailed", QUOTA, kind="MPIJob"), "1.35", strict=True)


def test_a_job_whose_launcher_and_workers_run_is_running() -> None:
    state = read(observed(mpijob(CREATED_CONDITION, RUNNING), pod("launcher"), *BOTH_RUN))
    assert (state.status, state.reason, state.detail) == ("running", None, "2 of 2 workers run")
    assert (state.created, state.ended) == (datetime.fromisoformat(CREATED), None)
    assert state.log == "/efs/mask-rcnn/sagemaker/output/log-job-1"
    assert (state.fingerprint, state.leftovers) == ("f" * 64, ())


@pytest.mark.parametrize(
    ("pods", "events", "said"),
    [
        (
            (pod("launcher"), pod("worker", 0, phase="Pending", **unschedulable(NO_GPU))),
            (),
            "job-1-worker-0: unschedulable: no node has enough nvidia.com/gpu free, nodes with the "
            "taint node.kubernetes.io/unreachable= are not for it",
        ),
        (
            (pod("worker", 0, phase="Pending", **unschedulable(NO_GPU)),),
            (event("job-1-worker-0", "NotTriggerScaleUp", FULL),),
            "no node has enough nvidia.com/gpu free, nodes with the taint "
            "node.kubernetes.io/unreachable= are not for it; the autoscaler starts no node: 1 max "
            "node group size reached",
        ),
        (
            tuple(
                pod("worker", n, phase="Pending", **unschedulable("0/2 nodes are available: 2 "
                    "Insufficient nvidia.com/gpu.")) for n in range(5)
            ),
            tuple(
                event(f"job-1-worker-{n}", "TriggeredScaleUp", "pod triggered scale-up: [{gpu 0->5"
                      " (max: 8)}]") for n in range(5)
            ),
            "job-1-worker-0, job-1-worker-1, job-1-worker-2 and 2 more: waits for a node that is "
            "being started (no node has enough nvidia.com/gpu free)",
        ),
        (
            (
                pod("worker", 0, phase="Pending", **unschedulable("0/4 nodes are available: 4 "
                    "node(s) had volume node affinity conflict. preemption: none")),
            ),
            (),
            "job-1-worker-0: unschedulable: its volume is in another availability zone than the",
        ),
        (
            (
                pod("worker", 0, phase="Pending", **unschedulable('persistentvolumeclaim '
                    '"mask-rcnn-fsx" not found')),
            ),
            (),
            "the volume claim mask-rcnn-fsx is not there: python -m training.kubernetes install",
        ),
        (
            (
                pod("worker", 0, phase="Pending", **waiting("ImagePullBackOff",
                    'Back-off pulling image: not found')),
            ),
            (),
            f"job-1-worker-0: image {IMAGE} cannot be pulled: ImagePullBackOff (Back-off pulling",
        ),
        (
            (
                pod("worker", 0, phase="Pending", **waiting("CreateContainerConfigError",
                    'configmap "job-1-job" not found')),
            ),
            (),
            'CreateContainerConfigError (configmap "job-1-job" not found)',
        ),
        (
            (pod("worker", 0, phase="Pending", node="ip-10-0-0-1"),),
            (event("job-1-worker-0", "FailedMount", "MountVolume.SetUp failed: rpc error"),),
            "job-1-worker-0: FailedMount (MountVolume.SetUp failed: rpc error)",
        ),
        (
            (pod("launcher"), pod("worker", 0)),
            (event("job-1", "MPIJobFailed", QUOTA, kind="MPIJob"),),
            "resource quota team of the namespace is exceeded: the job asks for "
            "requests.nvidia.com/gpu=8, used are requests.nvidia.com/gpu=8 of "
            "requests.nvidia.com/gpu=12. Wait until",
        ),
        (
            (pod("launcher"), pod("worker", 0), pod("worker", 1, phase="Failed", **ended(
                137, reason="OOMKilled"))),
            (),
            "job-1-worker-1: OOMKilled, its container used more memory than its limit",
        ),
        (
            (),
            (event("job-1", "ValidationError", "Found validation errors: x", kind="MPIJob"),),
            "the MPI Operator refuses it: Found validation errors: x",
        ),
    ],
    ids=["no GPU", "group full", "node comes", "zone", "no claim", "image", "config", "mount",
         "quota", "oom", "validation"],
)  # fmt: skip
def test_a_job_that_does_not_run_says_why(pods: Any, events: Any, said: str) -> None:
    state = read(observed(mpijob(CREATED_CONDITION), *pods, events=events))
    assert not state.has_ended
    assert said in str(state.message)


def test_a_quota_that_was_exceeded_before_all_pods_were_made_is_history() -> None:
    events = (event("job-1", "MPIJobFailed", QUOTA, kind="MPIJob"),)
    found = observed(mpijob(RUNNING), pod("launcher"), *BOTH_RUN, events=events)
    assert read(found).reason is None


def test_what_needs_somebody_is_said_before_what_passes() -> None:
    starting = unschedulable("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")
    found = observed(
        mpijob(CREATED_CONDITION),
        pod("worker", 0, phase="Pending", **starting),
        pod("worker", 1, phase="Pending", **waiting("ErrImagePull", "denied")),
        events=(event("job-1-worker-0", "TriggeredScaleUp", "pod triggered scale-up: [x]"),),
    )
    assert str(read(found).reason).startswith("job-1-worker-1: image ")


def test_an_operator_that_does_not_act_is_told_after_a_minute() -> None:
    found = observed(mpijob())
    begun = datetime.fromisoformat(CREATED)
    assert read(found, begun + timedelta(seconds=30)).reason is None
    state = read(found, begun + timedelta(seconds=90))
    assert state.status == "waiting"
    assert "the MPI Operator has not seen it in 90 s" in str(state.reason)
    assert "python -m training.kubernetes install" in str(state.reason)


@pytest.mark.parametrize(
    ("conditions", "launcher", "status", "said"),
    [
        ((condition("Succeeded"),), ended(0), "completed", None),
        (
            (condition("Failed", "BackoffLimitExceeded/", "Job has reached"),),
            ended(1, "rank 3 on job-1-worker-0 ended with 1: CUDA error"),
            "failed",
            "job-1-launcher-a0: exit code 1 (rank 3 on job-1-worker-0 ended with 1: CUDA error)",
        ),
        (
            (condition("Failed", "BackoffLimitExceeded/", "Job has reached"),),
            ended(75, "stopped, with a checkpoint at step 40"),
            "checkpointed",
            "stopped, with a checkpoint at step 40",
        ),
        (
            (condition("Failed", "BackoffLimitExceeded/", "Job has reached"),),
            ended(143, "stopped by SIGTERM before the ranks had started"),
            "stopped",
            "stopped by SIGTERM before the ranks had started",
        ),
        (
            (condition("Running", status="False"), condition("Failed", "DeadlineExceeded", "x")),
            None,
            "checkpointed",
            LIMIT,
        ),
        (
            (condition("Failed", "DeadlineExceeded", "x"),),
            None,
            "stopped",
            f"{LIMIT}; it had not run",
        ),
    ],
)
def test_how_a_job_ended(conditions: Any, launcher: Any, status: str, said: str | None) -> None:
    phase = "Succeeded" if status == "completed" else "Failed"
    pods = [pod("launcher", phase=phase, **launcher)] if launcher else []
    state = read(observed(mpijob(*conditions), *pods))
    assert (state.status, state.message) == (status, said)
    assert state.has_ended
    assert state.ended == datetime(2026, 1, 2, 5, 4, 5, tzinfo=UTC)


def test_an_evicted_worker_fails_the_job_and_those_that_run_on_are_listed() -> None:
    """https://github.com/kubeflow/mpi-operator/issues/647"""
    evicted = pod(
        "worker", 1, phase="Failed", reason="Evicted", message="The node was low on memory",
        containerStatuses=[],
    )  # fmt: skip
    conditions = (RUNNING, condition("Failed", "MPIJobEvicted", "1/2 workers are evicted"))
    for found in (mpijob(*conditions), mpijob(RUNNING)):
        state = read(observed(found, pod("launcher"), pod("worker", 0), evicted))
        assert state.status == "failed"
        assert state.leftovers == ("job-1-launcher-a0", "job-1-worker-0")
        assert str(state.message).startswith(
            "job-1-worker-1: Evicted from ip-10-0-0-1.internal (The node was low on memory). "
            "2 pod(s) of it still run, on nodes that are paid for: job-1-launcher-a0, "
            "job-1-worker-0. Remove them: python -m training.jobs stop job-1 --platform eks"
        )


def test_pods_that_are_on_their_way_out_are_no_leftovers() -> None:
    going = pod("worker", 0)
    going["metadata"]["deletionTimestamp"] = CREATED
    failed = condition("Failed", "BackoffLimitExceeded/", "x")
    state = read(observed(mpijob(failed), pod("launcher", phase="Failed", **ended(1)), going))
    assert state.leftovers == ()


def test_a_launcher_that_is_started_again_is_counted_as_an_attempt() -> None:
    first = pod("launcher", 0, phase="Failed", **ended(1))
    second = pod("launcher", 1, created="2026-01-02T04:00:00Z")
    state = read(observed(mpijob(RUNNING), second, first, *BOTH_RUN))
    assert (state.status, state.attempts) == ("running", 2)
    assert state.detail == "2 of 2 workers run, attempts: 2"
    assert state.exit_code is None


@pytest.mark.parametrize(
    ("pods", "status"),
    [((pod("launcher"), *BOTH_RUN), "stopping"), ((), "queued")],
)
def test_a_suspended_job_is_stopping_or_was_never_started(pods: Any, status: str) -> None:
    found = mpijob(CREATED_CONDITION, runPolicy={"suspend": True})
    assert read(observed(found, *pods)).status == status


def test_a_job_has_started_when_a_node_took_its_first_worker() -> None:
    pods = [
        pod("launcher", startTime="2026-01-02T03:04:06Z"),
        pod("worker", 0, startTime="2026-01-02T03:14:05Z"),
        pod("worker", 1, startTime="2026-01-02T03:12:05Z"),
        pod("worker", 2, phase="Pending"),
    ]
    found = read(observed(mpijob(CREATED_CONDITION, RUNNING), *pods))
    assert found.started == datetime(2026, 1, 2, 3, 12, 5, tzinfo=UTC)


def test_the_workers_of_a_job_that_has_ended_are_gone_and_its_own_start_is_told() -> None:
    job = mpijob(CREATED_CONDITION, condition("Succeeded"))
    found = read(observed(job, pod("launcher", phase="Succeeded")))
    assert found.started == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    launcher = pod("launcher", startTime="2026-01-02T03:04:06Z")
    assert read(observed(mpijob(CREATED_CONDITION), launcher)).started is None
