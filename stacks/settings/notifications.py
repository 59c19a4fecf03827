"""Settings of NotificationStack, which is there only where one of them asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from stacks.settings.arns import SecretArn
from stacks.settings.group import (
    CommaSeparated,
    SettingsGroup,
    checked_by,
    prefixed,
)
from stacks.settings.text import shown

STACK = "NotificationStack"

JobChange = Literal["started", "completed", "failed", "stopped"]
"""What can be told of a job, in the words of `python -m training.jobs`."""

ENDS: tuple[JobChange, ...] = ("completed", "failed", "stopped")

MOST_EMAILS = 20
"""Each is a resource of the stack. More people than that share a mailing list."""

# The part before the @ without quotes, which hardly any mail system gives out:
# https://www.rfc-editor.org/rfc/rfc5322#section-3.4.1
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"(?P<user>{_ATOM}(\.{_ATOM})*)@(?P<host>{_LABEL}(\.{_LABEL})+)")

# https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1
LONGEST_USER, LONGEST_ADDRESS = 64, 254


def _problems_of_emails(addresses: tuple[str, ...]) -> Iterator[str]:
    for address in addresses:
        found = _ADDRESS.fullmatch(address)
        if not found:
            yield f"{shown(address)} is no address"
        elif len(found["user"]) > LONGEST_USER or len(address) > LONGEST_ADDRESS:
            yield f"{shown(address)} is longer than an address can be"
    if len(addresses) > MOST_EMAILS:
        yield f"{len(addresses)} are more than {MOST_EMAILS}: name a mailing list"
    # Mail systems do not tell capitals apart, and nobody wants each message twice.
    if len({address.lower() for address in addresses}) != len(addresses):
        yield "an address is there twice"


def _default_if_empty(changes: Any) -> Any:
    return ENDS if changes == "" else changes


def _problems_of_changes(changes: tuple[JobChange, ...]) -> Iterator[str]:
    if not changes:
        yield "it names nothing to tell"
    if len(set(changes)) != len(changes):
        yield "one is there twice"


class NotificationSettings(SettingsGroup):
    """Who is told when a training job on SageMaker or EC2 changes its state."""

    model_config = prefixed("notify_")

    emails: Annotated[
        tuple[str, ...], CommaSeparated, AfterValidator(checked_by(_problems_of_emails))
    ] = Field(default=(), description=f"e-mail addresses: A,B,C; at most {MOST_EMAILS}")
    """Each gets a message that it has to confirm once."""

    webhook_secret_arn: SecretArn = Field(
        default=None,
        max_length=2048,
        description="the ARN of a secret in Secrets Manager that holds url and authorization",
    )
    """Of a webhook; its text is `{"url": "https://...", "authorization": "..."}`, the latter what
    goes into the header of that name. The secret is yours: the stacks only read it."""

    states: Annotated[
        tuple[JobChange, ...],
        CommaSeparated,
        BeforeValidator(_default_if_empty),
        AfterValidator(checked_by(_problems_of_changes)),
    ] = Field(default=ENDS, description=f"some of {', '.join(get_args(JobChange))}: A,B,C")
    """Which changes are told; `started` is when the training itself begins: on SageMaker after each
    interruption of a spot instance too, on EC2 once."""

    @property
    def is_wanted(self) -> bool:
        """Whether there is anybody to tell, and so the stack."""
        return bool(self.emails or self.webhook_secret_arn)

    @model_validator(mode="after")
    def _somebody_is_told(self) -> Self:
        if self.states != ENDS and not self.is_wanted:
            raise ValueError(
                "notify_states is given, and nobody to tell: set notify_emails or "
                "notify_webhook_secret_arn too, or leave it out"
            )
        return self
