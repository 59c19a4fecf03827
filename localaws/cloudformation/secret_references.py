"""Dynamic references to secrets: `{{resolve:secretsmanager:ARN:SecretString:KEY::}}`.

https://docs.aws.amazon.com/secretsmanager/latest/userguide/cfn-example_reference-secret.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_REFERENCE = re.compile(
    r"\{\{resolve:secretsmanager:(?P<secret>[^{}]+?):SecretString:(?P<key>[^:{}]*)"
    r"(:[^:{}]*){0,2}\}\}"
)

Read = Callable[[str], str]


def with_secrets(value: Any, read: Read) -> Any:
    """Return a value with each reference replaced by what it stands for.

    Args:
        value: Any part of a template, its intrinsic functions resolved.
        read: Returns the text of a secret, by its name or ARN.

    Raises:
        ValueError: The secret has no such key.
    """
    if isinstance(value, list):
        return [with_secrets(item, read) for item in value]
    if isinstance(value, dict):
        return {key: with_secrets(item, read) for key, item in value.items()}
    if not isinstance(value, str):
        return value
    return _REFERENCE.sub(lambda found: _field(read(found["secret"]), found), value)


def _field(text: str, found: re.Match[str]) -> str:
    key = found["key"]
    if not key:
        return text
    try:
        return str(json.loads(text)[key])
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"Could not find a value associated with JSONKey in SecretString: {key} of "
            f"{found['secret']}"
        ) from None
