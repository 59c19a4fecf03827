"""What is said of a job whose state has changed, as templates that EventBridge fills in.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PLACE = re.compile(r"<([a-z_]+)>")

# https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
_PATHS: Mapping[str, str] = {
    "job": "$.detail.TrainingJobName",
    "status": "$.detail.TrainingJobStatus",
    "secondary_status": "$.detail.SecondaryStatus",
    "reason": "$.detail.FailureReason",
    "region": "$.region",
    "account": "$.account",
    "time": "$.time",
}
"""Place in a template to what of the event goes there."""

_HEADLINE = "Training job <job>: <status> (<secondary_status>)"
_PLACED = "Region <region>, account <account>, <time>"
_COMMAND = "python -m training.jobs status <job>"


@dataclass(frozen=True, kw_only=True)
class Message:
    """The templates of one target."""

    plain: str
    """Of an event without the reason of a failure."""
    with_reason: str
    """Of an event that has one."""


def paths_of(template: str) -> dict[str, str]:
    """Return place to JSON path, of those places that a template has."""
    return {place: _PATHS[place] for place in dict.fromkeys(_PLACE.findall(template))}


def _text(lines: Sequence[str]) -> str:
    """Return the template of a text: EventBridge wants each line between quotes of its own."""
    return "\n".join(f'"{line}"' for line in lines)


def _body() -> str:
    """Return the template of a JSON object; `text` is what chats show.

    It has no reason: EventBridge puts values in as they are, and quotes in one would make the
    whole no JSON. What is here is names, words and numbers.
    """
    fields = ("job", "status", "secondary_status", "region", "account", "time")
    text = f"{_HEADLINE}. {_PLACED}. {_COMMAND}"
    return json.dumps({"text": text, **{field: f"<{field}>" for field in fields}})


FOR_PEOPLE = Message(
    plain=_text((_HEADLINE, _PLACED, f"To look at it: {_COMMAND}")),
    with_reason=_text((_HEADLINE, _PLACED, "Reason: <reason>", f"To look at it: {_COMMAND}")),
)

FOR_PROGRAMS = Message(plain=_body(), with_reason=_body())
