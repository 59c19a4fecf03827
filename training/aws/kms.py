"""Keys of KMS."""

from __future__ import annotations

from typing import Any

from training.aws.errors import AwsRefused
from training.aws.policy import Policy
from training.aws.request import ask


class Kms:
    """AWS Key Management Service."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def key(self, key_id: str) -> dict[str, Any] | None:
        """Return a key's metadata; None where there is none.

        Args:
            key_id: An id, ARN or alias, of a key in this client's region.
        """
        try:
            answer = ask(self._client, "describe_key", KeyId=key_id)
        except AwsRefused as error:
            if error.code == "NotFoundException":
                return None
            raise
        metadata: dict[str, Any] = answer["KeyMetadata"]
        return metadata

    def policy(self, key_id: str) -> Policy:
        """Return a key's policy, without which nobody may use it.

        Args:
            key_id: An id or ARN.
        """
        answer = ask(self._client, "get_key_policy", KeyId=key_id, PolicyName="default")
        return Policy.parse(answer["Policy"])
