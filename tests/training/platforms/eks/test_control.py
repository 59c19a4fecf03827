"""`python -m training.jobs ... --platform eks`, against an API server."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes_server import KubernetesServer
from tests.training.platforms.eks.by_hand import installed
from tests.training.platforms.eks.planning import outputs, request
from tests.training.platforms.eks.recorded import mpijob
from tests.training.platforms.eks.small_operator import SmallOperator
from tests.waiting import wait_for
from training.errors import AwsError, JobCheckpointed, UsageError
from training.jobs import control
from training.jobs.control import JobControl
from training.platforms.eks.charts import FOLDER
from training.platforms.eks.connection import Connection
from training.platforms.eks.submission import submit
from training.prices.usage import NotKnown

LOG = "fs-0123456789abcdef0:/mask-rcnn/sagemaker/output/log-job-1"


@pytest.fixture
def jobs(cluster: KubernetesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JobControl:
    """What the commands use, with the cluster of KUBECONFIG."""
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(outputs().stacks), encoding="utf-8")
    return control.load("eks", file)


def test_a_job_is_listed_shown_stopped_and_remembered(
    cluster: KubernetesServer,
    connection: Connection,
    operator: SmallOperator,
    jobs: JobControl,
) -> None:
    submit(connection, request(name="job-1"))
    wait_for(lambda: len(cluster.names("pods")) == 3, "pods")
    (found,) = jobs.jobs(limit=20)
    told: dict[str, Any] = found.to_json()
    assert (told["name"], told["status"], told["detail"]) == (
        "job-1",
        "running",
        "2 of 2 workers run",
    )
    assert (told["machines"], told["log"], told["model"]) == ("2 x p4d.24xlarge", LOG, None)
    assert isinstance(found.usage, tuple)
    assert [(each.instance_type, each.count) for each in found.usage] == [("p4d.24xlarge", 2)]
    cluster.say("job-1-launcher-a0", "launcher", "2026-01-02T03:04:06.5Z [rank 1] hello")
    shown: list[str] = []
    jobs.show("job-1", shown.append)
    assert shown == ["entrypoint: both workers are there", "[rank 1] hello"]
    stopped = jobs.stop("job-1")
    assert (stopped.status, stopped.log) == ("checkpointed", LOG)
    (kept,) = jobs.jobs(limit=20)
    assert (kept.status, kept.message) == ("checkpointed", stopped.message)
    assert jobs.status("job-1").status == "checkpointed"
    with pytest.raises(JobCheckpointed, match=r"with --resume --name job-1$"):
        jobs.conclude("job-1")
    # Its pods are gone, and with them the hours that they ran.
    assert isinstance(kept.usage, NotKnown)
    with pytest.raises(AwsError, match=r"its pods are gone, .* python -m training.kubernetes att"):
        jobs.show("job-1", shown.append)


def test_a_job_is_told_with_the_type_it_runs_on_whatever_the_cluster_has_now(
    cluster: KubernetesServer,
    connection: Connection,
    operator: SmallOperator,
    jobs: JobControl,
) -> None:
    installed(connection, "by-hand", namespace="default")
    wait_for(lambda: len(cluster.names("pods")) == 4, "pods")
    for found in (jobs.status("by-hand"), *jobs.jobs(limit=20)):
        assert found.machines == "3 x p3.16xlarge"
        assert isinstance(found.usage, tuple)
        assert [(each.instance_type, each.count) for each in found.usage] == [("p3.16xlarge", 3)]
    stopped = jobs.stop("by-hand")
    kept = jobs.status("by-hand")
    assert (kept.machines, kept.log) == ("3 x p3.16xlarge", stopped.log)
    assert isinstance(kept.usage, NotKnown)


def test_a_job_that_names_no_type_is_on_the_cluster_s(
    cluster: KubernetesServer, connection: Connection, jobs: JobControl
) -> None:
    cluster.put(mpijob())
    assert jobs.status("job-1").machines == "2 x p4d.24xlarge"


def test_a_job_whose_log_began_nowhere_says_why(
    cluster: KubernetesServer, connection: Connection, jobs: JobControl
) -> None:
    submit(connection, request(name="job-1"))
    with pytest.raises(AwsError, match="job-1: no line yet: waiting"):
        jobs.show("job-1", print)


def test_without_the_operator_the_error_says_how_to_install_it(
    cluster: KubernetesServer, jobs: JobControl
) -> None:
    for ask in (lambda: jobs.jobs(limit=1), lambda: jobs.status("job-1")):
        with pytest.raises(AwsError, match=r"not installed. Install it: python -m training.kub"):
            ask()


def test_other_releases_of_the_namespace_are_no_jobs(
    cluster: KubernetesServer, connection: Connection, jobs: JobControl
) -> None:
    assert jobs.jobs(limit=20) == []
    with pytest.raises(UsageError, match="the cluster has no job of this name"):
        jobs.status("job-1")


def test_what_is_no_job_is_neither_shown_nor_stopped(
    cluster: KubernetesServer, connection: Connection, jobs: JobControl
) -> None:
    image = {"image": "registry/image:1", "job": {"name": "copy"}}
    connection.helm.install("copy", FOLDER / "stage-data", image)
    for ask in (jobs.status, jobs.stop):
        with pytest.raises(
            UsageError, match=r"copy: a release of chart stage-data-\S+ has this name"
        ):
            ask("copy")
    goes_on = replace(request(name="copy"), resume=True)
    with pytest.raises(UsageError, match="has this name"):
        submit(connection, goes_on)
    assert cluster.names("jobs") == {"copy"}


@pytest.mark.parametrize("name", ["", "a\x1b[31m", ".*"])
def test_what_no_job_can_be_called_is_told_so(name: str, jobs: JobControl) -> None:
    with pytest.raises(UsageError, match="no job has such a name") as refused:
        jobs.status(name)
    assert repr(name) in str(refused.value)
