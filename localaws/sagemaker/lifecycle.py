"""The scripts that a notebook instance runs when it is made and at every start."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from moto.core.utils import utcnow
from moto.sagemaker.exceptions import ValidationError

from localaws.sagemaker.errors import too_long

CONTENT_LIMIT = 16384
"""Characters of one script, after base64.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_NotebookInstanceLifecycleHook.html
"""

Scripts = list[dict[str, str]]


class LifecycleConfig:
    """One lifecycle configuration."""

    def __init__(self, name: str, arn: str, request: dict[str, Any]) -> None:
        self.name = name
        self.arn = arn
        self.tags: list[dict[str, str]] = request.get("Tags") or []
        self.on_create: Scripts = []
        self.on_start: Scripts = []
        self.creation_time = utcnow()
        self.update(request)

    def update(self, request: dict[str, Any]) -> None:
        """Take the scripts of a request, and only those that it has.

        Raises:
            ValidationError: A script is too long or no base64, or there are several.
        """
        on_create = _checked(request.get("OnCreate", self.on_create), "onCreate")
        on_start = _checked(request.get("OnStart", self.on_start), "onStart")
        self.on_create, self.on_start = on_create, on_start
        self.last_modified_time = utcnow()

    def summary(self) -> dict[str, Any]:
        return {
            "NotebookInstanceLifecycleConfigName": self.name,
            "NotebookInstanceLifecycleConfigArn": self.arn,
            "CreationTime": self.creation_time,
            "LastModifiedTime": self.last_modified_time,
        }

    def to_dict(self) -> dict[str, Any]:
        return {**self.summary(), "OnCreate": self.on_create, "OnStart": self.on_start}


def _checked(scripts: Scripts, where: str) -> Scripts:
    if len(scripts) > 1:
        raise too_long(where, 1)
    for script in scripts:
        content = script.get("Content", "")
        if len(content) > CONTENT_LIMIT:
            raise too_long(f"{where}.1.member.content", CONTENT_LIMIT)
        try:
            base64.b64decode(content, validate=True)
        except binascii.Error as error:
            raise ValidationError(message=f"{where}: the content is no base64") from error
    return scripts
