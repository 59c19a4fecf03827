"""SageMaker's quotas, and what runs already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast
from zlib import crc32

import pytest

from tests.training.preflight.stacks.conftest import REGION, Stub, findings_of, only_finding_of
from training.aws.sagemaker import SageMaker
from training.aws.service_quotas import AppliedQuota, ServiceQuotas
from training.preflight.finding import Finding
from training.preflight.job.quotas import QuotasSuffice
from training.preflight.quota_request import ask_for_more

TYPE = "ml.p3.16xlarge"
USAGE, SPOT_USAGE = f"{TYPE} for training job usage", f"{TYPE} for spot training job usage"
WARM_POOL = f"{TYPE} for training warm pool usage"
ALL, SPOT_ALL = (
    "Number of instances across all training jobs",
    "Number of instances across all spot training jobs",
)
LONGEST = "Longest run time for a training job"
ENOUGH = {USAGE: 4.0, ALL: 20.0, LONGEST: 432_000.0}


def code_of(name: str) -> str:
    """Return a code of the form that AWS has, another for each name."""
    return f"L-{crc32(name.encode()):08X}"


def more(name: str, wanted: int) -> str:
    """Return how to ask for more."""
    return (
        "Ask for more: aws service-quotas request-service-quota-increase --service-code sagemaker "
        f"--quota-code {code_of(name)} --desired-value {wanted} --region us-east-1"
    )


def quotas(stub: Stub, values: dict[str, float]) -> ServiceQuotas:
    """Answer with two pages, as AWS does with dozens."""
    request = {"ServiceCode": "sagemaker", "MaxResults": 100}
    listed = [
        {"QuotaName": name, "Value": value, "QuotaCode": code_of(name), "Adjustable": True}
        for name, value in values.items()
    ]
    name = "ml.p3.16xlarge for endpoint usage"
    other = [{"QuotaName": name, "Value": 0.0, "QuotaCode": code_of(name)}]
    return ServiceQuotas(
        stub(
            "service-quotas",
            ("list_service_quotas", {"Quotas": other, "NextToken": "more"}, request),
            ("list_service_quotas", {"Quotas": listed}, {**request, "NextToken": "more"}),
        )
    )


def running(stub: Stub, *jobs: dict[str, Any] | str) -> SageMaker:
    """Answer with jobs that run; a text is the code with which a job is not shown."""
    names = [f"job-{number}" for number, _ in enumerate(jobs)]
    summaries = [
        {
            "TrainingJobName": name,
            "TrainingJobArn": f"arn:aws:sagemaker:us-east-1:123456789012:training-job/{name}",
            "CreationTime": 0,
            "TrainingJobStatus": "InProgress",
        }
        for name in names
    ]
    request = {
        "SortBy": "CreationTime",
        "SortOrder": "Descending",
        "MaxResults": 100,
        "StatusEquals": "InProgress",
    }
    shown = [
        (
            "describe_training_job",
            job if isinstance(job, str) else {**DESCRIPTION, **job},
            {"TrainingJobName": name},
        )
        for name, job in zip(names, jobs, strict=True)
    ]
    return SageMaker(
        stub(
            "sagemaker",
            ("list_training_jobs", {"TrainingJobSummaries": summaries}, request),
            *shown,
        )
    )


DESCRIPTION = {
    "TrainingJobName": "job",
    "TrainingJobArn": "arn:aws:sagemaker:us-east-1:123456789012:training-job/job",
    "ModelArtifacts": {"S3ModelArtifacts": "s3://bucket/model"},
    "TrainingJobStatus": "InProgress",
    "SecondaryStatus": "Training",
    "AlgorithmSpecification": {"TrainingInputMode": "File"},
    "StoppingCondition": {"MaxRuntimeInSeconds": 1},
    "CreationTime": 0,
}


def uses(count: int, instance_type: str = TYPE, *, spot: bool = False) -> dict[str, Any]:
    resources = {"InstanceType": instance_type, "InstanceCount": count}
    return {"ResourceConfig": resources, "EnableManagedSpotTraining": spot}


def check(
    service_quotas: ServiceQuotas,
    sagemaker: SageMaker,
    *,
    instances: int = 4,
    is_spot: bool = False,
    keep_alive_s: int = 0,
    max_run_s: int = 400_000,
    preparation_type: str | None = None,
) -> list[Finding]:
    return findings_of(
        QuotasSuffice(
            service_quotas,
            sagemaker,
            REGION,
            TYPE,
            instances,
            is_spot=is_spot,
            keep_alive_s=keep_alive_s,
            max_run_s=max_run_s,
            preparation_type=preparation_type,
        )
    )


def test_what_fits_exactly_passes(stub: Stub) -> None:
    assert check(quotas(stub, ENOUGH), running(stub)) == []


def test_one_instance_more_than_the_quota_says_how_much_of_what_is_needed(stub: Stub) -> None:
    found = check(quotas(stub, {**ENOUGH, USAGE: 2}), running(stub))
    [finding] = found
    assert (finding.code, finding.severity) == ("quota-too-small", "error")
    assert finding.message == (
        'quota "ml.p3.16xlarge for training job usage" is 2 of 4 needed in us-east-1. '
        f"{more(USAGE, 4)}, or take fewer instances"
    )


def test_a_quota_that_is_not_adjustable_has_no_request() -> None:
    fixed = AppliedQuota(2, "L-12345678", is_adjustable=False)
    assert ask_for_more("sagemaker", fixed, 4, "us-east-1") == (
        "AWS raises it on no request: its Support may know more"
    )


def test_all_instances_together_have_a_quota_too(stub: Stub) -> None:
    [finding] = check(quotas(stub, {**ENOUGH, ALL: 3}), running(stub))
    assert f'quota "{ALL}" is 3 of 4 needed' in finding.message
    assert more(ALL, 4) in finding.message


def test_spot_has_quotas_of_its_own(stub: Stub) -> None:
    values = {**ENOUGH, SPOT_USAGE: 0, SPOT_ALL: 20}
    [finding] = check(quotas(stub, values), running(stub), is_spot=True)
    assert f'"{SPOT_USAGE}" is 0 of 4 needed' in finding.message


def test_what_runs_already_leaves_less(stub: Stub) -> None:
    jobs: list[dict[str, Any] | str] = [
        uses(1),
        uses(7, "ml.g5.xlarge"),
        uses(9, spot=True),
        "AccessDeniedException",
    ]
    found = check(quotas(stub, {**ENOUGH, ALL: 12}), running(stub, *jobs))
    [finding] = found
    assert (finding.code, finding.severity) == ("quota-in-use", "warning")
    assert f'quota "{USAGE}" is 4 in us-east-1, and jobs that run now use 1 of it' in (
        finding.message
    )


def test_jobs_of_other_types_count_for_all_together(stub: Stub) -> None:
    jobs = [uses(9, "ml.g5.xlarge")]
    [finding] = check(quotas(stub, {**ENOUGH, ALL: 12}), running(stub, *jobs))
    assert f'"{ALL}" is 12 in us-east-1, and jobs that run now use 9 of it' in finding.message


def test_a_type_without_quota_may_not_be_sold(stub: Stub) -> None:
    values = {ALL: 20.0, LONGEST: 432_000.0}
    [finding] = check(quotas(stub, values), running(stub))
    assert finding.code == "quota-unknown"
    assert f'Service Quotas knows no "{USAGE}" in us-east-1' in finding.message


def test_where_no_quota_is_known_nobody_asks_what_runs(stub: Stub) -> None:
    [finding] = check(quotas(stub, {}), SageMaker(None))
    assert finding.code == "quota-unknown"


def test_a_warm_pool_without_quota_is_not_kept(stub: Stub) -> None:
    [finding] = check(quotas(stub, ENOUGH), running(stub), keep_alive_s=600)
    assert (finding.code, finding.severity) == ("warm-pool-quota-too-small", "warning")
    assert f'quota "{WARM_POOL}" is 0 in us-east-1, of 4 needed' in finding.message


def test_a_warm_pool_with_quota_is(stub: Stub) -> None:
    assert check(quotas(stub, {**ENOUGH, WARM_POOL: 4}), running(stub), keep_alive_s=600) == []


@pytest.mark.parametrize(("limit", "codes"), [(1, []), (0, ["quota-too-small"])])
def test_the_instance_that_makes_the_log_folder_takes_one_too(
    stub: Stub, limit: int, codes: list[str]
) -> None:
    values = {**ENOUGH, "ml.m5.large for training job usage": limit}
    found = check(quotas(stub, values), running(stub), preparation_type="ml.m5.large")
    assert [each.code for each in found] == codes
    assert {each.path for each in found} <= {"sagemaker.preparation_instance_type"}


def test_a_run_longer_than_the_quota_is_an_error(stub: Stub) -> None:
    service_quotas = quotas(stub, ENOUGH)
    check_ = QuotasSuffice(
        service_quotas,
        running(stub),
        REGION,
        TYPE,
        4,
        is_spot=False,
        keep_alive_s=0,
        max_run_s=432_001,
        preparation_type=None,
    )
    message = only_finding_of(check_, "run-time-over-quota").message
    assert f'limits.max_run_s is 432001, and quota "{LONGEST}" is 432000 s in us-east-1' in message
    assert f"Lower it. {more(LONGEST, 432_001)}" in message


def test_types_of_which_the_account_may_have_so_many_are_named(stub: Stub) -> None:
    class Everything:
        """Names all that pass."""

        def said(self, *, without: str, among: Callable[[Sequence[str]], Sequence[str]]) -> str:
            return f". Not {without}: {among(['ml.g5.xlarge', 'ml.g6.xlarge', 'ml.p4d.24xlarge'])}"

    class Limits:
        def quotas_by_name(self, _service: str, names: Sequence[str]) -> dict[str, AppliedQuota]:
            values = {USAGE: 0, ALL: 9, "ml.g5.xlarge for training job usage": 4}
            values["ml.g6.xlarge for training job usage"] = 3
            return {n: AppliedQuota(v, "L-1") for n, v in values.items() if n in names}

    limits, others = cast(Any, Limits()), cast(Any, Everything())
    check_ = QuotasSuffice(
        limits,
        running(stub),
        REGION,
        TYPE,
        4,
        is_spot=False,
        keep_alive_s=0,
        max_run_s=1,
        preparation_type=None,
        alternatives=others,
    )
    message = only_finding_of(check_, "quota-too-small").message
    assert message.endswith(f"fewer instances. Not {TYPE}: ['ml.g5.xlarge']")
