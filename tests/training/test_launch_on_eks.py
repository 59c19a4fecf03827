"""`python -m training.launch --platform eks` as its users meet it; only the cluster is ours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.kubernetes_server import MPIJOB, KubernetesServer, cluster
from tests.training.platforms.eks.conftest import claim
from tests.training.platforms.eks.planning import IMAGE, by_kind, outputs
from tests.training.platforms.eks.small_operator import SmallOperator, operating
from tests.waiting import wait_for

__all__ = ["cluster"]

WITHOUT_ACCOUNT = """
import sys
from training.cli import run
from training.launch import app
from training.platforms.eks import advice, platform
# What asks the account has tests of its own; here only the cluster answers.
platform.check = lambda job, plan, *, offline: advice.find(job.spec, plan.request)
run(app)
"""


@dataclass(frozen=True)
class Cloud:
    """A cluster, as the stacks would have made it."""

    cluster: KubernetesServer
    operator: SmallOperator
    outputs_file: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-c", WITHOUT_ACCOUNT, "--platform", "eks"),
                *("--instance-count", "2", "--data-source", "efs", "--set", f"image={IMAGE}"),
                *("--outputs-file", str(self.outputs_file), "--name", "job-1", *arguments),
            ],
            env={**os.environ, "KUBECONFIG": str(self.cluster.kubeconfig), "COLUMNS": "200"},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def launch(self, *arguments: str, exit_code: int = 0) -> tuple[str, str]:
        process = self.start(*arguments)
        stdout, stderr = process.communicate(timeout=120)
        assert process.returncode == exit_code, stderr
        assert "Traceback" not in stderr
        return stdout, stderr


@pytest.fixture
def cloud(cluster: KubernetesServer, tmp_path: Path) -> Iterator[Cloud]:
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(outputs().stacks), encoding="utf-8")
    cluster.put(MPIJOB)
    cluster.put(claim("mask-rcnn-efs"))
    with operating(cluster) as operator:
        yield Cloud(cluster, operator, file)


def test_what_a_dry_run_shows_is_what_is_sent_and_is_sent_once(cloud: Cloud) -> None:
    shown = json.loads(cloud.launch("--dry-run", "--format", "json")[0])
    assert cloud.cluster.requests == []
    assert shown["cost"]["per_hour"] is None
    told = json.loads(cloud.launch("--yes", "--format", "json")[0])
    assert (told["job_name"], told["status"]) == ("job-1", "submitted")
    sent = by_kind(shown["request"]["manifest"])
    there = cloud.cluster.find("mpijobs", "job-1")
    assert there is not None
    assert {**there["spec"], "runPolicy": None} == {**sent["MPIJob"]["spec"], "runPolicy": None}
    _, stderr = cloud.launch("--yes", "--set", "retries=1", exit_code=2)
    assert "the name job-1 is taken by another job of" in stderr


@pytest.mark.soak
def test_a_job_is_followed_to_its_end_and_its_exit_code_is_the_commands(cloud: Cloud) -> None:
    process = cloud.start("--yes", "--wait")
    wait_for(lambda: len(cloud.cluster.names("pods")) == 3, "pods")
    cloud.operator.end("job-1", code=1, message="rank 3 ended with 1: CUDA error")
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "entrypoint: both workers are there" in stderr
    assert "error: job-1 failed: job-1-launcher-a0: exit code 1 (rank 3 ended" in stderr


@pytest.mark.soak
def test_ctrl_c_stops_the_watching_and_not_the_job(cloud: Cloud) -> None:
    process = cloud.start("--yes", "--wait")
    wait_for(lambda: any("/log?" in path for _, path in cloud.cluster.requests), "a reader")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped: watching; job-1 goes on. Watch it again: python -m training.jobs" in stderr
    assert "job-1" in cloud.cluster.names("mpijobs")
