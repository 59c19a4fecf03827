"""Whether the account may run such a job: SageMaker's quotas for training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.sagemaker import SageMaker
from training.aws.service_quotas import ServiceQuotas
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

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
    helper_type: str | None
    """Of the instance that makes the log folder first; None where none does."""

    def find(self) -> Iterator[Finding]:
        usage = "spot training job" if self.is_spot else "training job"
        of_type = f"{self.instance_type} for {usage} usage"
        of_pool = f"{self.instance_type} for training warm pool usage"
        of_all = ALL_INSTANCES[self.is_spot]
        of_helper = f"{self.helper_type} for training job usage"
        names = [of_type, of_all, LONGEST_RUN]
        names += [of_pool] if self.keep_alive_s else []
        names += [of_helper] if self.helper_type else []
        limits = self.service_quotas.limits_by_name(SERVICE, names)
        if of_type not in limits:
            yield self.found(
                "quota-unknown",
                "instances.type",
                f'Service Quotas knows no "{of_type}" in {self.region}: SageMaker may not sell the '
                "type there. Look at its pricing page, or choose another type",
            )
        yield from self._judge_instances(
            {name: limits[name] for name in (of_type, of_all) if name in limits}, of_all
        )
        if self.helper_type and limits.get(of_helper, 1) < 1:
            yield self.found(
                "quota-too-small",
                "sagemaker.preparation_instance_type",
                f'quota "{of_helper}" is {limits[of_helper]:g} in {self.region}, and one instance '
                f"makes the log folder first. {self._ask_for(of_helper)}, choose another type, or "
                "launch where the file system is mounted",
            )
        if self.keep_alive_s and limits.get(of_pool, 0) < self.instances:
            yield self.found(
                "warm-pool-quota-too-small",
                "sagemaker.keep_alive_s",
                f'quota "{of_pool}" is {limits.get(of_pool, 0):g} in {self.region}, of '
                f"{self.instances} needed: the job runs, and no warm pool is kept after it. "
                f"{self._ask_for(of_pool)}",
            )
        longest = limits.get(LONGEST_RUN)
        if longest is not None and self.max_run_s > longest:
            yield self.found(
                "run-time-over-quota",
                "limits.max_run_s",
                f'limits.max_run_s is {self.max_run_s}, and quota "{LONGEST_RUN}" is {longest:g} s '
                f"in {self.region}. Lower it, or ask for more in the Service Quotas console",
            )

    def _judge_instances(self, limits: Mapping[str, float], of_all: str) -> Iterator[Finding]:
        fitting: dict[str, float] = {}
        for name, limit in limits.items():
            if limit < self.instances:
                yield self.found(
                    "quota-too-small",
                    "instances.count",
                    f'quota "{name}" is {limit:g} of {self.instances} needed in {self.region}. '
                    f"{self._ask_for(name)}, or take fewer instances",
                )
            else:
                fitting[name] = limit
        if not fitting:
            return
        used = self._used()
        for name, limit in fitting.items():
            count = used.of_all if name == of_all else used.of_type
            if count + self.instances > limit:
                yield self.found(
                    "quota-in-use",
                    "instances.count",
                    f'quota "{name}" is {limit:g} in {self.region}, and jobs that run now use '
                    f"{count} of it: for {self.instances} more SageMaker refuses the job until "
                    f"others have ended. Wait. {self._ask_for(name)}",
                )

    def _used(self) -> Used:
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
        return Used(of_type, of_all)

    def _ask_for(self, name: str) -> str:
        return f'Ask for more in the Service Quotas console (Amazon SageMaker, "{name}")'


@dataclass(frozen=True)
class Used:
    """Instances of jobs that run now."""

    of_type: int
    of_all: int
