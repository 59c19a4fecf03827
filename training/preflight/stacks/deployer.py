"""Who makes the resources: not the caller, but the role that CloudFormation takes on."""

from __future__ import annotations

from dataclasses import dataclass

from training.aws.iam import Iam
from training.aws.sts import Identity


@dataclass(frozen=True)
class Deployer:
    """The role of `cdk bootstrap` with which CloudFormation deploys, or else the caller.

    https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
    """

    iam: Iam
    identity: Identity
    region: str
    qualifier: str

    def arn(self) -> str | None:
        """Return the user's or role's ARN; None where no policy binds it, as with root."""
        account = self.identity.account
        role = f"cdk-{self.qualifier}-cfn-exec-role-{account}-{self.region}"
        if arn := self.iam.role_arn(role):
            return arn
        if self.identity.is_root:
            return None
        if name := self.identity.role_name:
            # The ARN of a session lacks the role's path.
            return self.iam.role_arn(name)
        return self.identity.arn

    def lacks(self, actions: tuple[str, ...], resource: str, service: str = "") -> list[str]:
        """Return those actions that it may not do, with its ARN's policies and boundaries.

        Args:
            actions: Without wildcards.
            resource: An ARN.
            service: For which a service-linked role is made, if one is.
        """
        arn = self.arn()
        if arn is None:
            return []
        context = {"iam:AWSServiceName": service} if service else {}
        return self.iam.not_allowed(arn, actions, resource, context)
