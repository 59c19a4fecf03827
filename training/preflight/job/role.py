"""Whether the job's role may do what the job does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.iam import Iam
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.asked import S3Place


@dataclass(frozen=True)
class RoleReachesItsPlaces(Check):
    """The job's role may read the data on S3, write what it leaves there, and use the key.

    By the role's own policies: that of the bucket, and of the key, may say otherwise.
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "role-cannot-read": "error",
        "role-cannot-write": "error",
        "role-cannot-use-key": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("iam:SimulatePrincipalPolicy",)

    iam: Iam
    role_arn: str
    reads: S3Place | None
    writes: S3Place
    key_arns: Sequence[str]

    def find(self) -> Iterator[Finding]:
        if self.reads:
            yield from self._judge("role-cannot-read", ["s3:GetObject"], self._objects(self.reads))
        yield from self._judge("role-cannot-write", ["s3:PutObject"], self._objects(self.writes))
        for key in self.key_arns:
            yield from self._judge(
                "role-cannot-use-key", ["kms:Decrypt", "kms:GenerateDataKey"], key
            )

    def _judge(self, code: str, actions: Sequence[str], resource: str) -> Iterator[Finding]:
        missing = self.iam.not_allowed(self.role_arn, actions, resource)
        if missing:
            yield self.found(
                code,
                self.role_arn,
                f"{self.role_arn}, as which the job runs, may not {' and '.join(missing)} on "
                f"{resource}. Deploy StorageStack again, or allow it",
            )

    def _objects(self, place: S3Place) -> str:
        partition = self.role_arn.split(":")[1]
        return f"arn:{partition}:s3:::{place.bucket}/{place.key}/file"
