"""`python -m training.launch --platform ec2` as its users meet it; the cluster is a program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.training.platforms.ec2.planning import CLUSTER, document
from tests.training.platforms.ec2.small_cluster import SmallCluster
from tests.training.platforms.ec2.ssm_server import SsmServer, serving
from tests.training.platforms.sagemaker.planning import STACKS
from tests.training.pretender import environ

IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/horovod:1"


@dataclass(frozen=True)
class Cloud:
    """A cluster, as the stacks would have made it."""

    ssm: SsmServer
    cluster: SmallCluster
    outputs_file: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-c", WITHOUT_ACCOUNT, "--platform", "ec2"),
                *("--instance-count", "2", "--data-source", "efs", "--set", f"image={IMAGE}"),
                *("--outputs-file", str(self.outputs_file), *arguments),
            ],
            env={**os.environ, **environ(self.ssm.endpoint), "COLUMNS": "200"},
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


WITHOUT_ACCOUNT = """
import sys
from training.cli import run
from training.launch import app
from training.platforms.ec2 import advice, platform
# What asks the account has tests of its own; here only Systems Manager answers.
platform.check = lambda job, plan, *, offline: advice.find(job.spec, plan.request)
run(app)
"""


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps({**STACKS, "ClusterStack": CLUSTER}))
    cluster = SmallCluster()
    with serving(cluster) as ssm:
        ssm.statuses = []
        yield Cloud(ssm, cluster, file)


def test_what_a_dry_run_shows_is_what_is_sent(cloud: Cloud) -> None:
    options = ("--name", "job-1", "--format", "json")
    shown = json.loads(cloud.launch(*options, "--dry-run")[0])
    assert cloud.ssm.sent == []
    assert (shown["platform"], shown["algorithm"], shown["job_name"]) == (
        "ec2",
        "horovod",
        "job-1",
    )
    assert shown["cost"]["per_hour"] is None
    told = json.loads(cloud.launch(*options, "--yes")[0])
    assert (told["job_name"], told["status"]) == ("job-1", "submitted")
    assert cloud.ssm.sent == [shown["request"]["SendCommand"]]
    assert cloud.cluster.requests["job-1"] == shown["request"]["runs"]["request"]


def test_a_job_is_followed_to_its_end_through_throttling_and_a_lost_answer(
    cloud: Cloud,
) -> None:
    cloud.ssm.lost_answers = 1
    cloud.ssm.throttled = 1
    cloud.cluster.looks = 0
    _, stderr = cloud.launch("--name", "job-1", "--yes", "--wait")
    assert "total_loss: 1.25" in stderr
    assert "job-1: completed" in stderr
    # The request came twice, and made one job.
    submitted = [each for each in cloud.ssm.sent if each["Parameters"]["Action"] == ["submit"]]
    assert (len(submitted), cloud.cluster.started) == (2, 1)


def test_a_failed_job_and_a_busy_cluster_have_their_exit_codes(cloud: Cloud) -> None:
    cloud.cluster.looks = 0
    cloud.cluster.end = {"state": "failed", "reason": "no space left on /efs", "exit_code": 1}
    _, stderr = cloud.launch("--name", "job-1", "--yes", "--wait", exit_code=1)
    assert "error: job-1 failed: no space left on /efs (exit code 1)" in stderr
    cloud.cluster("submit", document(name="job-0"))
    _, stderr = cloud.launch("--name", "job-2", "--yes", exit_code=4)
    assert "error: job job-0 runs. To look at the cluster's jobs: python -m" in stderr
    assert "job-2" not in cloud.cluster.jobs


def test_ctrl_c_stops_the_watching_and_not_the_job(cloud: Cloud) -> None:
    cloud.cluster.looks = 10_000
    process = cloud.start("--name", "job-1", "--yes", "--wait")
    deadline = time.monotonic() + 60
    while not _watched(cloud):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped: watching; job-1 goes on. Watch it again: python -m training.jobs" in stderr
    assert cloud.cluster.jobs["job-1"]["state"] == "running"


def _watched(cloud: Cloud) -> bool:
    return any(each["Parameters"]["Action"] == ["logs"] for each in cloud.ssm.sent)


def test_the_plan_in_text_has_command_request_machines_and_cost(cloud: Cloud) -> None:
    stdout, _ = cloud.launch("--name", "job-1", "--dry-run")
    lines = [line.strip() for line in stdout.splitlines()]
    for line in (
        "job-1  horovod on ec2",
        "where: account 123456789012, us-west-2, cluster mask-rcnn",
        "machines: 2 x p4d.24xlarge + the head, m6i.xlarge, which conducts = 16 GPUs: 16 processes "
        "on 2 host(s)",
        "data: EFS fs-0123456789abcdef0, /efs/mask-rcnn/sagemaker/input/train",
        "cost: unknown",
        "DocumentName: ClusterStack-Request-GHI",
        "Values: ClusterStack-Head-ABC",
        "log: /efs/mask-rcnn/sagemaker/output/log-job-1",
        "distribution: elastic",
    ):
        assert line in lines
    assert "of base64: the request below (--format json has them)" in stdout


def test_more_workers_than_the_cluster_has_start_nothing(cloud: Cloud) -> None:
    _, stderr = cloud.launch("--instance-count", "9", "--yes", exit_code=3)
    assert "workers-over-most" in stderr
    assert cloud.ssm.sent == []
