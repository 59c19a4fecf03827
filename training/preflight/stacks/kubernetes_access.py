"""Who reaches the Kubernetes cluster, and who may use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.iam import Iam
from training.aws.sts import Identity
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

ADMINS_KEY = "eks_admin_arns"


@dataclass(frozen=True)
class ApiIsNarrow(Check):
    """The cluster's API is open to few."""

    codes: ClassVar[Mapping[str, Severity]] = {"kubernetes-api-open": "warning"}
    actions: ClassVar[tuple[str, ...]] = ()

    networks: Sequence[str]
    """Those of the settings that are so wide that anybody may be in them."""

    def find(self) -> Iterator[Finding]:
        if self.networks:
            yield self.found(
                "kubernetes-api-open",
                "eks_api_cidrs",
                f"eks_api_cidrs opens the cluster's API to {', '.join(self.networks)}, so that "
                "anybody may try its door (eks_allow_open_api is true). Name your own network, or "
                "leave it out and launch from inside the VPC",
            )


@dataclass(frozen=True)
class AdminsAreNamed(Check):
    """Somebody is named who may use the cluster."""

    codes: ClassVar[Mapping[str, Severity]] = {"kubernetes-without-admins": "info"}
    actions: ClassVar[tuple[str, ...]] = ()

    identity: Identity

    def find(self) -> Iterator[Finding]:
        yield self.found(
            "kubernetes-without-admins",
            ADMINS_KEY,
            f"{ADMINS_KEY} names nobody, so that nobody may use the cluster of "
            f"KubernetesStack, whoever deploys it included. {self._advice()}",
        )

    def _advice(self) -> str:
        if name := self.identity.role_name:
            # The ARN of a session lacks the role's path.
            return (
                f"For you: the ARN of role {name}, as `aws iam get-role --role-name {name} --query "
                "Role.Arn` prints it"
            )
        if self.identity.is_root:
            return "Name a role or a user"
        return f"For you: {ADMINS_KEY}={self.identity.arn}"


@dataclass(frozen=True)
class AdminsAreThere(Check):
    """The roles of this account among those who may use the cluster exist."""

    codes: ClassVar[Mapping[str, Severity]] = {"kubernetes-admin-missing": "error"}
    actions: ClassVar[tuple[str, ...]] = ("iam:GetRole",)

    iam: Iam
    identity: Identity
    arns: Sequence[str]

    def find(self) -> Iterator[Finding]:
        for arn in self.arns:
            _, _, _, _, account, resource = arn.split(":", 5)
            name = resource.rpartition("/")[2]
            is_ours = account == self.identity.account and resource.startswith("role/")
            if is_ours and self.iam.role_arn(name) != arn:
                yield self.found(
                    "kubernetes-admin-missing",
                    ADMINS_KEY,
                    f"{ADMINS_KEY} names {arn}, and this account has no such role: EKS takes only "
                    "who is there. Correct it; a role's path is part of its ARN",
                )
