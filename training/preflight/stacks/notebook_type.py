"""The instance type of the notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.service_quotas import ServiceQuotas
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.quota_request import ask_for_more


@dataclass(frozen=True)
class NotebookTypeIsAllowed(Check):
    """The account may run a notebook of this type here.

    SageMaker has no request that lists the types of a region; Service Quotas has a quota for each
    type that it sells there.
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "notebook-type-without-quota": "warning",
        "notebook-quota-is-zero": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("servicequotas:ListServiceQuotas",)

    service_quotas: ServiceQuotas
    region: str
    instance_type: str

    def find(self) -> Iterator[Finding]:
        name = f"{self.instance_type} for notebook instance usage"
        quota = self.service_quotas.quota_by_name("sagemaker", name)
        if quota is None:
            yield self.found(
                "notebook-type-without-quota",
                "notebook_instance_type",
                f"notebook_instance_type is {self.instance_type}, for which Service Quotas has no "
                f"quota in {self.region}: SageMaker may not sell it there. Look at its pricing "
                "page, or choose another type",
            )
        elif quota.value < 1:
            yield self.found(
                "notebook-quota-is-zero",
                "notebook_instance_type",
                f"notebook_instance_type is {self.instance_type}, of which this account may run "
                f'{quota.value:g} in {self.region} (quota "{name}"). '
                f"{ask_for_more('sagemaker', quota, 1, self.region)}, or choose another type",
            )
