"""`stop`: the ranks save, then the release goes, and how the job ended stays on record."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest

from tests.conftest import ROOT
from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.planning import request
from tests.training.platforms.eks.recorded import condition, mpijob, observed, pod
from tests.training.platforms.eks.small_operator import SmallOperator
from tests.waiting import wait_for
from training.errors import AwsError, ExitCode, Interrupted, UsageError
from training.platforms.common.patience import Timer
from training.platforms.eks.connection import Connection
from training.platforms.eks.looking import find
from training.platforms.eks.state import CHECKPOINTED as CODE_CHECKPOINTED
from training.platforms.eks.state import STOPPED as CODE_STOPPED
from training.platforms.eks.state import read_state
from training.platforms.eks.stopping import judged, last_word, stop
from training.platforms.eks.submission import submit

NOW = datetime(2026, 1, 2, 4, 0, tzinfo=UTC)
CHECKPOINTED = "stopped by SIGTERM, with a checkpoint at step 40"


def quick() -> Timer:
    """Return a clock on which a wait is over at once, and each look takes a minute."""
    passed_s = itertools.count(0.0, 60.0)
    return Timer(now=lambda: next(passed_s), sleep=lambda _: None)


def started(cluster: KubernetesServer, connection: Connection) -> None:
    submit(connection, request(name="job-1"))
    wait_for(lambda: len(cluster.names("pods")) == 3, "pods")


def test_a_job_that_runs_saves_and_is_removed_and_its_end_is_on_record(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    started(cluster, connection)
    told: list[str] = []
    state = stop(connection, "job-1", tell=told.append)
    assert (state.status, state.reason, state.exit_code) == ("checkpointed", CHECKPOINTED, 75)
    assert told == ["job-1: its ranks save a checkpoint, 120 s at most"]
    # It was asked to end before what belongs to it was removed.
    methods = [
        (method, path.partition("?")[0].rpartition("/")[2])
        for method, path in cluster.requests
        if method in {"PATCH", "DELETE"} and "secrets" not in path
    ]
    asked = methods.index(("PATCH", "job-1"), len(methods) - 4)
    assert all(method == "DELETE" for method, _ in methods[asked + 1 :])
    assert not cluster.names("mpijobs") | cluster.names("pods") | cluster.names("configmaps")
    recorded = find(connection, "job-1", now=datetime.now(UTC))
    assert recorded is not None
    assert (recorded.status, recorded.reason) == ("checkpointed", CHECKPOINTED)
    assert recorded.log == "/efs/mask-rcnn/sagemaker/output/log-job-1"
    # A job that was removed stays as it is.
    assert stop(connection, "job-1", tell=told.append).status == "checkpointed"


@pytest.mark.parametrize(
    ("line", "status", "reason"),
    [
        (f"entrypoint: exit code 75: {CHECKPOINTED}", "checkpointed", CHECKPOINTED),
        ("entrypoint: exit code 143: stopped before", "stopped", "stopped before"),
        ("entrypoint: exit code 0: completed", "completed", "completed"),
        ("entrypoint: exit code 1: rank 3 failed", "failed", "rank 3 failed"),
        ("[rank 3] entrypoint: exit code 75: no", "stopped", "its pods were ended"),
        ("loss: 0.5", "stopped", "its pods were ended"),
    ],
)
def test_how_it_ended_is_what_the_launcher_said_last(line: str, status: str, reason: str) -> None:
    running = read_state(observed(mpijob(condition("Running")), pod("launcher")), now=NOW)
    state = judged(running, last_word(line))
    assert (state.status, state.reason) == (status, reason)


def test_the_entry_point_says_so_and_has_these_exit_codes() -> None:
    entrypoint = ROOT / "docker" / "entrypoint"
    for name in ("pod_launcher.py", "elastic.py"):
        text = (entrypoint / name).read_text(encoding="utf-8")
        assert 'say(f"exit code {ending.code}: {ending.reason}")' in text
    said = (entrypoint / "say.py").read_text(encoding="utf-8")
    assert 'f"entrypoint: {text}' in said
    codes = (entrypoint / "errors.py").read_text(encoding="utf-8")
    assert f"STOPPED_WITH_CHECKPOINT = {CODE_CHECKPOINTED}" in codes
    assert f"STOPPED = {CODE_STOPPED}" in codes


def test_a_job_that_ended_by_itself_meanwhile_ended_so() -> None:
    done = read_state(observed(mpijob(condition("Succeeded"))), now=NOW)
    assert judged(done, last_word("entrypoint: exit code 75: x")) is done


def test_a_job_that_waits_for_nodes_is_removed_at_once(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    operator.starts_pods = False
    submit(connection, request(name="job-1"))
    told: list[str] = []
    state = stop(connection, "job-1", tell=told.append)
    assert (state.status, told) == ("stopped", [])
    assert not cluster.names("mpijobs")


def test_leftovers_of_a_job_whose_worker_was_evicted_are_removed(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    """https://github.com/kubeflow/mpi-operator/issues/647"""
    started(cluster, connection)
    with cluster.store.changed:
        lost = dict(cluster.find("pods", "job-1-worker-1") or {})
        lost["status"] = {"phase": "Failed", "reason": "Evicted", "message": "low on memory"}
        cluster.put(lost)
        job = dict(cluster.find("mpijobs", "job-1") or {})
        evicted = condition("Failed", "MPIJobEvicted", "1/2 workers are evicted")
        cluster.put({**job, "status": {"conditions": [evicted]}})
    before = find(connection, "job-1", now=datetime.now(UTC))
    assert before is not None
    assert (before.status, len(before.leftovers)) == ("failed", 2)
    state = stop(connection, "job-1", tell=lambda _: None)
    assert (state.status, state.leftovers) == ("failed", ())
    assert "Evicted" in str(state.reason)
    assert not cluster.names("pods") | cluster.names("mpijobs")


def test_pods_that_do_not_go_are_an_error_that_names_them_each_time(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    started(cluster, connection)
    operator.end("job-1", code=1, message="CUDA error")
    with cluster.store.changed:
        stuck = dict(cluster.find("pods", "job-1-launcher-a0") or {})
        cluster.put({**stuck, "status": {"phase": "Running"}})
    operator.ends_pods = False
    still_there = (
        r"namespace kubeflow still has pod/job-1-launcher-a0\. .* stop job-1 --platform eks"
    )
    for _ in range(2):
        with pytest.raises(AwsError, match=still_there) as refused:
            stop(connection, "job-1", tell=lambda _: None, timer=quick())
        assert refused.value.exit_code is ExitCode.AWS
    operator.ends_pods = True
    assert stop(connection, "job-1", tell=lambda _: None).status == "failed"


@pytest.mark.soak
def test_ctrl_c_while_it_saves_says_that_the_same_command_goes_on(
    cluster: KubernetesServer, connection: Connection, operator: SmallOperator
) -> None:
    started(cluster, connection)
    operator.ends_pods = False

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"python -m training.jobs stop job-1 --platform eks"):
        stop(connection, "job-1", tell=lambda _: None, timer=Timer(sleep=interrupt))
    operator.ends_pods = True
    assert stop(connection, "job-1", tell=lambda _: None).has_ended
    assert not cluster.names("mpijobs")


def test_no_job_of_the_name_is_an_error_of_usage(connection: Connection) -> None:
    with pytest.raises(UsageError, match="the cluster has no job of this name"):
        stop(connection, "nothing")
    for name in ("-oops", "$(id)"):
        with pytest.raises(UsageError, match="no job has such a name"):
            stop(connection, name)
