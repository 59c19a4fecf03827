"""Which context is ours, and how a mistake in it is told in one line."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

CDK_KEYS = frozenset({"acknowledged-issue-numbers", "cli-telemetry"})
"""What the CDK CLI keeps in context under a bare name.

All its other keys hold a colon or a slash: feature flags (`@aws-cdk/core:...`), its own switches
(`aws:cdk:...`), cached look-ups (`availability-zones:account=...`).
"""


def own_keys(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context that is meant for this app, misspelt keys included."""
    return {
        key: value
        for key, value in context.items()
        if key not in CDK_KEYS and ":" not in key and "/" not in key
    }


def unknown_key(key: str, known: Sequence[str]) -> str:
    """Say that a key is not known, and what may have been meant."""
    nearest = difflib.get_close_matches(key.lower().replace("-", "_"), known, n=1)
    advice = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(known)}"
    return f"context key {key} is not known: {advice}"


def one_line(error: ValidationError, allowed: Mapping[str, str]) -> str:
    """Tell the first problem: key, value and what is allowed; or what does not go together."""
    first = error.errors()[0]
    reason = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"context: {reason}"
    key = str(first["loc"][0])
    given = f"context key {key} = {first['input']!r}"
    if first["type"] == "value_error":
        return f"{given}: {reason}; allowed is {allowed[key]}"
    return f"{given}: allowed is {allowed[key]}"
