"""A Git repository that notebook instances clone, with the secret that holds its token."""

from __future__ import annotations

from typing import Any

from moto.core.utils import utcnow


class CodeRepository:
    """One Git repository."""

    def __init__(self, name: str, arn: str, request: dict[str, Any]) -> None:
        self.name = name
        self.arn = arn
        self.tags: list[dict[str, str]] = request.get("Tags") or []
        self.git_config: dict[str, str] = request["GitConfig"]
        self.creation_time = self.last_modified_time = utcnow()

    def update(self, request: dict[str, Any]) -> None:
        """Take another secret; address and branch cannot change."""
        git_config = request.get("GitConfig") or {}
        if secret := git_config.get("SecretArn"):
            self.git_config = {**self.git_config, "SecretArn": secret}
        self.last_modified_time = utcnow()

    def to_dict(self) -> dict[str, Any]:
        return {
            "CodeRepositoryName": self.name,
            "CodeRepositoryArn": self.arn,
            "GitConfig": self.git_config,
            "CreationTime": self.creation_time,
            "LastModifiedTime": self.last_modified_time,
        }
