"""Whether SageMaker may run as the job's role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.iam import Iam
from training.aws.policy import Policy
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.caller import SAGEMAKER


@dataclass(frozen=True)
class SageMakerMayBeTheRole(Check):
    """The job's role is there, and SageMaker may run as it.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "role-missing": "error",
        "role-not-assumable": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("iam:GetRole",)

    iam: Iam
    role_arn: str
    account: str
    """Whose roles can be asked for."""

    def find(self) -> Iterator[Finding]:
        if self.role_arn.split(":")[4] != self.account:
            return
        trust = self.iam.trust(self.role_arn.rpartition("/")[2])
        if trust is None:
            yield self.found(
                "role-missing",
                self.role_arn,
                f"there is no role {self.role_arn}, as which the job runs; deploy StorageStack "
                "again, or read its outputs anew (leave --outputs-file out)",
            )
        elif not _admits(trust):
            yield self.found(
                "role-not-assumable",
                self.role_arn,
                f"{SAGEMAKER} may not run as {self.role_arn}, as which the job runs: its trust "
                "policy does not allow sts:AssumeRole to it. Deploy StorageStack again, or allow "
                "it (aws iam update-assume-role-policy)",
            )


def _admits(trust: Policy) -> bool:
    """Return whether SageMaker, or everyone, is allowed in, and not denied as a whole.

    Conditions are not evaluated: those that AWS advises, of account and job, hold for jobs.
    """
    allowed, denied = trust.allowing("sts:AssumeRole"), trust.denying("sts:AssumeRole")
    return any(_is_about_sagemaker(each.principals) for each in allowed) and not any(
        _is_about_sagemaker(each.principals) and not each.conditions for each in denied
    )


def _is_about_sagemaker(principals: list[str]) -> bool:
    return bool({SAGEMAKER, "*"} & set(principals))
