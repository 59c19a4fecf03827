"""Secrets: what they are called and which keys they have, never what they hold."""

from __future__ import annotations

import json
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask


class Secrets:
    """AWS Secrets Manager."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def secret(self, secret_id: str) -> dict[str, Any] | None:
        """Return a secret's description, which has no value; None where there is none."""
        try:
            return ask(self._client, "describe_secret", SecretId=secret_id)
        except AwsRefused as error:
            if error.code == "ResourceNotFoundException":
                return None
            raise

    def filled_keys(self, secret_id: str) -> set[str]:
        """Return the keys of a secret that is a JSON object, where they hold a text.

        The values are dropped at once; a secret of another form has no keys.
        """
        answer = ask(self._client, "get_secret_value", SecretId=secret_id)
        try:
            fields = json.loads(answer.get("SecretString", ""))
        except ValueError:
            return set()
        if not isinstance(fields, dict):
            return set()
        return {key for key, value in fields.items() if isinstance(value, str) and value}
