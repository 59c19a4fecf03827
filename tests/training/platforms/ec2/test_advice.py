"""What the stacks' outputs alone tell against a plan."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.ec2.planning import make_job, outputs, plan
from training.platforms.ec2 import platform
from training.preflight.finding import Finding
from training.preflight.job.report import select


def findings(**overrides: Any) -> list[Finding]:
    stacks = overrides.pop("stacks", outputs())
    planned = plan(stacks=stacks, **overrides)
    return list(platform.check(make_job(**overrides), planned, offline=True))


def test_a_job_that_fits_the_cluster_has_no_findings() -> None:
    assert findings(instances__type="p4d.24xlarge", instances__count=8) == []
    assert findings(instances__type="ml.p4d.24xlarge") == []


@pytest.mark.parametrize(
    ("overrides", "code", "severity", "said"),
    [
        (
            {"instances__count": 9},
            "workers-over-most",
            "error",
            "instances.count: 9: the cluster has at most 8 workers. Take 8 or fewer, or raise it: "
            "cdk deploy ClusterStack -c cluster_max_workers=9",
        ),
        (
            {"instances__type": "p5.48xlarge"},
            "instance-type-not-the-clusters",
            "error",
            "instances.type: p5.48xlarge: the cluster's workers are p4d.24xlarge",
        ),
        (
            {
                "algorithm": "tensorpack",
                "image": None,
                "stacks": outputs(RunsIn="environment", WorkerInstanceType="p3.16xlarge"),
            },
            "environment-without-algorithm",
            "error",
            "algorithm: tensorpack: the cluster's nodes run jobs in their own environment",
        ),
        (
            {"stacks": outputs(RunsIn="environment")},
            "image-not-used",
            "warning",
            "image: the cluster's nodes run jobs in their own environment",
        ),
        (
            {"instances__processes_per_instance": 6},
            "gpus-idle",
            "warning",
            "each worker node, p4d.24xlarge, has 8 GPUs, and 2 of them would do nothing",
        ),
        (
            {"stacks": outputs(WorkerInstanceType="m6i.xlarge")},
            "workers-without-gpu",
            "warning",
            "the cluster's workers, m6i.xlarge, have no GPU",
        ),
        (
            {"spot__enabled": True},
            "spot-without-spot-workers",
            "warning",
            "spot.enabled: the cluster's workers are on demand",
        ),
        (
            {"spot__max_wait_s": 3600},
            "spot-wait-not-used",
            "warning",
            "ec2.workers_wait_s says how long",
        ),
        (
            {"ec2__distribution": "mpi", "stacks": outputs(Spot="true")},
            "spot-without-retries",
            "warning",
            "the first that AWS takes back ends the job",
        ),
        (
            {"environment": {"HF_TOKEN": "x"}},
            "secret-in-environment",
            "warning",
            "environment.HF_TOKEN: it looks like a secret, and whoever may look can read it in "
            "Systems Manager's history of commands",
        ),
    ],
)
def test_what_does_not_fit_is_one_finding_that_says_what_to_do(
    overrides: dict[str, Any], code: str, severity: str, said: str
) -> None:
    (found,) = findings(**overrides)
    assert (found.code, found.severity) == (code, severity)
    assert said in found.message
    assert found.path
    # It can be left out by its code.
    select([], [code])


@pytest.mark.parametrize(
    "overrides",
    [
        {"stacks": outputs(Spot="true"), "spot__enabled": True},
        {"stacks": outputs(Spot="true"), "ec2__distribution": "mpi", "retries": 2},
        {"environment": {"EMPTY_TOKEN": "", "TOKENIZERS_PARALLELISM": "false"}},
    ],
)
def test_what_is_in_order_is_not_warned_of(overrides: dict[str, Any]) -> None:
    assert findings(**overrides) == []


def test_over_ssh_a_secret_is_in_no_history_of_commands() -> None:
    (found,) = findings(
        environment={"DB_PASSWORD": "x"},
        ec2__access="ssh",
        stacks=outputs(HeadAddress="203.0.113.7"),
    )
    assert "can read it in the job's folder on EFS" in found.message
