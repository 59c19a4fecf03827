"""Whether the account may run such a job: SageMaker's quotas for training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.sagemaker import SageMaker
from training.aws.service_quotas import AppliedQuota, ServiceQuotas
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.alternatives import Alternatives
from training.preflight.quota_request import ask_for_more

SERVICE = "sagemaker"

LONGEST_RUN = "Longest run time for a training job"
"""In seconds. https://docs.aws.amazon.com/sagemaker/latest/dg/feature-store-feature-processor-quotas.html
lists it among the limits of training; 432,000 where nobody asked for more."""

ALL_INSTANCES = {
    False: "Number of instances across all training jobs",
    True: "Number of instances across all spot training jobs",
}
"""By whether they are spot; of all types together."""

LOOKED_AT = 50
"""Jobs that run now, and are looked at for what they use."""


@dataclass(frozen=True)
class QuotasSuffice(Check):
    """The quotas suffice for the type, for all instances, a warm pool and the run time.

    Quotas for a type are called `<type> for training job usage`, `… for spot training job usage`
    and `… for training warm pool usage`. What runs already is counted as far as it may be looked
    at.
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "quota-too-small": "error",
        "quota-in-use": "warning",
        "quota-unknown": "warning",
        "warm-pool-quota-too-small": "warning",
        "run-time-over-quota": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeSubnets",
        "s3:GetObject",
        "sagemaker:DescribeTrainingJob",
        "sagemaker:ListTrainingJobs",
        "servicequotas:ListServiceQuotas",
    )

    service_quotas: ServiceQuotas
    sagemaker: SageMaker
    region: str
    instance_type: str
    instances: int
    is_spot: bool
    keep_alive_s: int
    max_run_s: int
    preparation_type: str | None
    """Of the instance that makes the log folder first; None where none does."""
    alternatives: Alternatives | None = None

    def find(self) -> Iterator[Finding]:
        limits = self.service_quotas.quotas_by_name(SERVICE, list(self._names()))
        if self._of_type not in limits:
            yield self.found(
                "quota-unknown",
                "instances.type",
                f'Service Quotas knows no "{self._of_type}" in {self.region}: SageMaker may not '
                "sell the type there. Look at its pricing page, or choose another type"
                f"{self._others()}",
            )
        yield from self._judge_instances(limits)
        yield from self._judge_preparation(limits)
        yield from self._judge_warm_pool(limits)
        yield from self._judge_run_time(limits)

    @property
    def _of_type(self) -> str:
        return self._of(self.instance_type)

    def _of(self, instance_type: str) -> str:
        kind = "spot training job" if self.is_spot else "training job"
        return f"{instance_type} for {kind} usage"

    @property
    def _of_all(self) -> str:
        return ALL_INSTANCES[self.is_spot]

    @property
    def _of_pool(self) -> str:
        return f"{self.instance_type} for training warm pool usage"

    @property
    def _of_preparation(self) -> str:
        return f"{self.preparation_type} for training job usage"

    def _names(self) -> Iterator[str]:
        """Yield the quotas that the job is held to."""
        yield from (self._of_type, self._of_all, LONGEST_RUN)
        if self.keep_alive_s:
            yield self._of_pool
        if self.preparation_type:
            yield self._of_preparation

    def _judge_preparation(self, limits: Mapping[str, AppliedQuota]) -> Iterator[Finding]:
        name = self._of_preparation
        if self.preparation_type and name in limits and limits[name].value < 1:
            yield self.found(
                "quota-too-small",
                "sagemaker.preparation_instance_type",
                f'quota "{name}" is {limits[name].value:g} in {self.region}, and one instance '
                f"makes the log folder first. {self._ask_for(limits[name], 1)}, choose another "
                "type, or launch where the file system is mounted",
            )

    def _judge_warm_pool(self, limits: Mapping[str, AppliedQuota]) -> Iterator[Finding]:
        name = self._of_pool
        quota = limits.get(name)
        value = 0 if quota is None else quota.value
        if self.keep_alive_s and value < self.instances:
            # A type that has none gets none.
            ask = f". {self._ask_for(quota, self.instances)}" if quota else ""
            yield self.found(
                "warm-pool-quota-too-small",
                "sagemaker.keep_alive_s",
                f'quota "{name}" is {value:g} in {self.region}, of {self.instances} needed: the '
                f"job runs, and no warm pool is kept after it{ask}",
            )

    def _judge_run_time(self, limits: Mapping[str, AppliedQuota]) -> Iterator[Finding]:
        longest = limits.get(LONGEST_RUN)
        if longest is not None and self.max_run_s > longest.value:
            yield self.found(
                "run-time-over-quota",
                "limits.max_run_s",
                f'limits.max_run_s is {self.max_run_s}, and quota "{LONGEST_RUN}" is '
                f"{longest.value:g} s in {self.region}. Lower it. "
                f"{self._ask_for(longest, self.max_run_s)}",
            )

    def _judge_instances(self, limits: Mapping[str, AppliedQuota]) -> Iterator[Finding]:
        names = [name for name in (self._of_type, self._of_all) if name in limits]
        fitting = [name for name in names if limits[name].value >= self.instances]
        for name in names:
            if name not in fitting:
                yield self.found(
                    "quota-too-small",
                    "instances.count",
                    f'quota "{name}" is {limits[name].value:g} of {self.instances} needed in '
                    f"{self.region}. {self._ask_for(limits[name], self.instances)}, or take fewer "
                    f"instances{self._others() if name == self._of_type else ''}",
                )
        if fitting:
            yield from self._judge_use({name: limits[name] for name in fitting})

    def _others(self) -> str:
        """Say which other types the quotas allow so many of."""
        if self.alternatives is None:
            return ""
        return self.alternatives.said(without=self.instance_type, among=self._allowed)

    def _allowed(self, types: Sequence[str]) -> list[str]:
        names = {name: self._of(name) for name in types}
        limits = self.service_quotas.quotas_by_name(SERVICE, list(names.values()))
        return [
            name
            for name, of_type in names.items()
            if of_type in limits and limits[of_type].value >= self.instances
        ]

    def _judge_use(self, limits: Mapping[str, AppliedQuota]) -> Iterator[Finding]:
        """Judge quotas that would do if no other job ran."""
        used = self._used()
        for name, limit in limits.items():
            count = used.of_all if name == self._of_all else used.of_type
            if count + self.instances > limit.value:
                yield self.found(
                    "quota-in-use",
                    "instances.count",
                    f'quota "{name}" is {limit.value:g} in {self.region}, and jobs that run now '
                    f"use {count} of it: for {self.instances} more SageMaker refuses the job until "
                    f"others have ended. Wait. {self._ask_for(limit, count + self.instances)}",
                )

    def _used(self) -> _Used:
        of_type = of_all = 0
        for summary in self.sagemaker.training_jobs(status="InProgress").jobs[:LOOKED_AT]:
            try:
                job = self.sagemaker.training_job(summary["TrainingJobName"]) or {}
            except AwsRefused as error:
                if error.is_denial:  # Another project's.
                    continue
                raise
            if bool(job.get("EnableManagedSpotTraining")) is not self.is_spot:
                continue
            resources = job.get("ResourceConfig", {})
            count = int(resources.get("InstanceCount", 0))
            of_all += count
            if resources.get("InstanceType") == self.instance_type:
                of_type += count
        return _Used(of_type, of_all)

    def _ask_for(self, quota: AppliedQuota, wanted: float) -> str:
        return ask_for_more(SERVICE, quota, wanted, self.region)


@dataclass(frozen=True)
class _Used:
    """Instances of jobs that run now."""

    of_type: int
    of_all: int
