"""Which context is ours, and how a mistake in it is told in one line."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from stacks.settings.old_names import advice_for
from stacks.settings.text import printable, shortened, shown
from training.redaction import redacted

LONGEST_KEY, LONGEST_REASON = 60, 1200
"""Characters in a message. The longest that is not a mistake names every interface endpoint."""

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
    if not key.strip():
        return (
            "a context key is empty: write it before the equals sign, as in -c vpc_cidr=10.0.0.0/16"
        )
    name = shortened(printable(key), LONGEST_KEY)
    if was := advice_for(key):
        return f"context key {name} is not known: {was}"
    nearest = difflib.get_close_matches(name.lower().replace("-", "_"), known, n=1)
    advice = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(known)}"
    return f"context key {name} is not known: {advice}"


def one_line(error: ValidationError, allowed: Mapping[str, str]) -> str:
    """Tell the first problem: key, value and what is allowed; or what does not go together.

    A token in a URL is left out: messages end up in logs.
    """
    return printable(redacted(_first_problem(error, allowed)))


def _first_problem(error: ValidationError, allowed: Mapping[str, str]) -> str:
    first = error.errors()[0]
    reason = shortened(redacted(first["msg"].removeprefix("Value error, ")), LONGEST_REASON)
    if not first["loc"]:
        return f"context: {reason}"
    key, *inside = first["loc"]
    # An item of a list is known by its value; one of a mapping wants its name.
    names = "".join(f"[{shown(name)}]" for name in inside if isinstance(name, str))
    given = f"context key {key}{names} = {shown(first['input'])}"
    if first["type"] == "value_error":
        return f"{given}: {reason}; allowed is {allowed[str(key)]}"
    return f"{given}: allowed is {allowed[str(key)]}"
