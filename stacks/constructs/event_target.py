"""Where EventBridge brings the events of a rule."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.constructs.job_message import Audience

EVENTBRIDGE = "events.amazonaws.com"


@dataclass(frozen=True, kw_only=True)
class EventTarget:
    """One target of every rule, and whom it brings what to."""

    name: str
    """Its id among the targets of a rule."""
    arn: str
    role_arn: str
    """In whose name EventBridge reaches it."""
    audience: Audience


class EventTargetRole(Construct):
    """The role in whose name EventBridge reaches one target.

    A topic could let EventBridge publish by its own policy, but not say for which rules: AWS
    advises a role for every target.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html

    Attributes:
        arn: Of the role.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        description: str,
        statements: list[iam.PolicyStatement],
    ) -> None:
        super().__init__(scope, construct_id)
        role = iam.Role(
            self, "Role", description=description, assumed_by=_eventbridge_of_this_stack()
        )
        iam.ManagedPolicy(
            self, "Policy", description=description, roles=[role], statements=statements
        )
        self.arn = role.role_arn


def _eventbridge_of_this_stack() -> iam.IPrincipal:
    """Return the service, for what it does on behalf of this stack's rules alone.

    Their names begin with the stack's. Their whole ARNs would go in a circle: a rule names the
    role, too.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/cross-service-confused-deputy-prevention.html
    """
    rules = f"arn:{Aws.PARTITION}:events:{Aws.REGION}:{Aws.ACCOUNT_ID}:rule/{Aws.STACK_NAME}-*"
    return iam.PrincipalWithConditions(
        iam.ServicePrincipal(EVENTBRIDGE),
        {
            "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
            "ArnLike": {"aws:SourceArn": rules},
        },
    )
