"""Parameters of Systems Manager."""

from __future__ import annotations

from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask


class Ssm:
    """AWS Systems Manager."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def parameter(self, name: str) -> str | None:
        """Return a parameter's value; None where there is none of that name."""
        try:
            value: str = ask(self._client, "get_parameter", Name=name)["Parameter"]["Value"]
        except AwsRefused as error:
            if error.code == "ParameterNotFound":
                return None
            raise
        return value
