"""What a plan for the EKS cluster is warned of, from the stacks' outputs alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.eks.planning import make_job, outputs, request
from tests.training.platforms.sagemaker.planning import ACCOUNT
from training.platforms.eks.advice import find
from training.preflight.finding import Finding


def found(stacks: dict[str, str] | None = None, **overrides: Any) -> dict[str, Finding]:
    sent = request(stacks=outputs(**{"ApiAccess": "public", **(stacks or {})}), **overrides)
    return {each.code: each for each in find(make_job(**overrides).spec, sent)}


def test_a_job_that_suits_the_cluster_is_warned_of_nothing() -> None:
    assert found(instances__type="ml.p4d.24xlarge", instances__count=8) == {}


def test_an_image_of_no_ecr_is_the_user_s_affair() -> None:
    assert found(image="docker.io/library/thing:1") == {}


@pytest.mark.parametrize(
    ("stacks", "overrides", "code", "severity", "said"),
    [
        (
            {},
            {"instances__count": 9},
            "workers-over-most",
            "error",
            "instances.count: 9: the cluster has at most 8 GPU nodes. Take 8 or fewer, or raise "
            "it: cdk deploy KubernetesStack -c eks_max_nodes=9",
        ),
        (
            {},
            {"instances__type": "p5.48xlarge"},
            "instance-type-not-the-clusters",
            "error",
            "cdk deploy KubernetesStack -c eks_gpu_instance_type=p5.48xlarge",
        ),
        (
            {},
            {"instances__processes_per_instance": 6},
            "gpus-idle",
            "warning",
            "each GPU node, p4d.24xlarge, has 8 GPUs, and 2 of them would do nothing",
        ),
        (
            {},
            {"spot__enabled": True},
            "spot-without-spot-workers",
            "warning",
            "For spot nodes: cdk deploy KubernetesStack -c eks_spot=true",
        ),
        (
            {},
            {"spot__max_wait_s": 900},
            "spot-wait-not-used",
            "warning",
            "eks.workers_wait_s says how long the job waits for its nodes",
        ),
        (
            {"Spot": "true"},
            {"eks__distribution": "mpi"},
            "spot-without-retries",
            "warning",
            "Set retries (up to 30), or take distribution elastic",
        ),
        (
            {},
            {"environment": {"API_TOKEN": "x"}},
            "secret-in-environment",
            "warning",
            "environment.API_TOKEN: it looks like a secret",
        ),
        (
            {},
            {"image": "999999999999.dkr.ecr.us-west-2.amazonaws.com/a/b:1"},
            "image-of-another-registry",
            "warning",
            "is in ECR of account 999999999999 in us-west-2, and the cluster is in account "
            f"{ACCOUNT} in us-west-2",
        ),
        (
            {},
            {"image": f"{ACCOUNT}.dkr.ecr.eu-west-1.amazonaws.com/a/b:1"},
            "image-of-another-registry",
            "warning",
            f"is in ECR of account {ACCOUNT} in eu-west-1, and the cluster is in account",
        ),
        (
            {"ApiAccess": "private"},
            {},
            "api-private",
            "info",
            "the API of cluster mask-rcnn answers inside the VPC only: launch from ClusterStack's",
        ),
    ],
)
def test_what_stands_against_a_plan(
    stacks: dict[str, str],
    overrides: dict[str, Any],
    code: str,
    severity: str,
    said: str,
) -> None:
    (finding,) = found(stacks, **overrides).values()
    assert (finding.code, finding.severity) == (code, severity)
    assert said in finding.message
