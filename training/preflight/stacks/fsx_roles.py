"""The service-linked roles with which FSx acts, which it makes with the deployer's rights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.deployer import Deployer

FSX, S3_ACCESS = "fsx.amazonaws.com", "s3.data-source.lustre.fsx.amazonaws.com"

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/setting-up.html#fsx-adding-permissions-s3
LINK_ACTIONS = ("iam:CreateServiceLinkedRole", "iam:AttachRolePolicy", "iam:PutRolePolicy")


@dataclass(frozen=True)
class FsxRolesCanBeMade(Check):
    """The deployer may make the roles that are not there yet."""

    codes: ClassVar[Mapping[str, Severity]] = {"fsx-roles-not-permitted": "error"}
    actions: ClassVar[tuple[str, ...]] = ("iam:GetRole", "iam:SimulatePrincipalPolicy")

    deployer: Deployer
    is_linked: bool
    """Whether the file system is linked to a bucket, for which FSx makes a role of its own."""

    def find(self) -> Iterator[Finding]:
        if self.deployer.iam.role_arn("AWSServiceRoleForAmazonFSx") is None:
            yield from self._judge(("iam:CreateServiceLinkedRole",), FSX, "AmazonFSx")
        if self.is_linked:
            yield from self._judge(LINK_ACTIONS, S3_ACCESS, "FSxS3Access_fs-0123456789abcdef0")

    def _judge(self, actions: tuple[str, ...], service: str, name: str) -> Iterator[Finding]:
        identity = self.deployer.identity
        folder = f"arn:{identity.partition}:iam::{identity.account}:role/aws-service-role/{service}"
        role = f"{folder}/AWSServiceRoleFor{name}"
        missing = self.deployer.lacks(actions, role, service)
        if missing:
            yield self.found(
                "fsx-roles-not-permitted",
                "fsx_bucket_link" if service == S3_ACCESS else "fsx",
                f"{self.deployer.arn()}, which deploys, may not {' and '.join(missing)} on "
                f"{folder}/*. FSx for Lustre makes a role there with the rights of who deploys: "
                "allow it, or set fsx=none",
            )
