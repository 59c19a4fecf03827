"""Whether whoever launches may launch the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.iam import Iam
from training.aws.sts import Identity
from training.outputs import PROJECT_TAG
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

SAGEMAKER = "sagemaker.amazonaws.com"


@dataclass(frozen=True)
class CallerMayLaunch(Check):
    """The caller may start the job and hand it its role, by the caller's own policies.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "role-not-passable": "error",
        "job-not-permitted": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("iam:GetRole", "iam:SimulatePrincipalPolicy")

    iam: Iam
    identity: Identity
    role_arn: str
    job_name: str
    region: str
    project: str | None
    """The value of the tag that the role of the notebook is held to."""

    def find(self) -> Iterator[Finding]:
        caller = principal_of(self.identity, self.iam)
        if caller is None:
            return
        if self.iam.not_allowed(
            caller, ["iam:PassRole"], self.role_arn, {"iam:PassedToService": SAGEMAKER}
        ):
            yield self.found(
                "role-not-passable",
                self.role_arn,
                f"{caller} may not hand {self.role_arn} to a job. Ask for iam:PassRole on it, with "
                f"iam:PassedToService {SAGEMAKER}, or use another profile",
            )
        job = (
            f"arn:{self.identity.partition}:sagemaker:{self.region}:{self.identity.account}:"
            f"training-job/{self.job_name.lower()}"
        )
        tag = {f"aws:RequestTag/{PROJECT_TAG}": self.project} if self.project else {}
        if self.iam.not_allowed(caller, ["sagemaker:CreateTrainingJob"], job, tag):
            yield self.found(
                "job-not-permitted",
                job,
                f"{caller} may not start {job}. Ask for sagemaker:CreateTrainingJob and "
                "sagemaker:AddTags on it, or use another profile",
            )


def principal_of(identity: Identity, iam: Iam) -> str | None:
    """Return the user's or role's ARN; None where no policy binds it, or it is not known."""
    if identity.is_root:
        return None
    name = identity.role_name
    # The ARN of a session lacks the role's path.
    return iam.role_arn(name) if name else identity.arn
