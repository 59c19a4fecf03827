"""Who makes the requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from training.aws.request import ask


@dataclass(frozen=True)
class Identity:
    """A caller of AWS."""

    account: str
    arn: str

    @property
    def partition(self) -> str:
        """`aws`, `aws-cn`, `aws-us-gov` and others."""
        return self.arn.split(":")[1]

    @property
    def is_root(self) -> bool:
        """Whether it is the account's root user, whom no policy binds."""
        return self.arn.endswith(":root")

    @property
    def role_name(self) -> str | None:
        """The role that was assumed; None for a user."""
        kind, _, name = self.arn.split(":", 5)[5].partition("/")
        return name.split("/")[0] if kind == "assumed-role" else None


class Sts:
    """AWS Security Token Service."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def identity(self) -> Identity:
        """Return the caller; this request needs no permission.

        Raises:
            AwsError: The credentials are not accepted, or no answer came.
        """
        answer = ask(self._client, "get_caller_identity")
        return Identity(answer["Account"], answer["Arn"])
