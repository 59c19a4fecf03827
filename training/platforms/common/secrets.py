"""Variables whose values look like secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "***"

_NAME = re.compile(
    r"(?:^|_)(?:SECRETS?|TOKENS?|PASSWORD|PASSWD|CREDENTIALS?|(?:API|ACCESS|PRIVATE|AUTH)_?KEY)"
    r"(?:_|$)",
    re.IGNORECASE,
)
"""Whole words of it: TOKENIZERS_PARALLELISM is none."""


def secret_names(variables: Mapping[str, str]) -> list[str]:
    """Return the names of those that have a value and look like secrets."""
    return [name for name, value in variables.items() if value and _NAME.search(name)]


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to be shown."""
    secret = set(secret_names(variables))
    return {name: HIDDEN if name in secret else value for name, value in variables.items()}
