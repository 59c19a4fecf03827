"""What is said of a job whose state has changed, as templates that EventBridge fills in.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Audience = Literal["people", "programs"]
"""Who reads a message: text by mail, or an object by a webhook."""

_PLACE = re.compile(r"<([a-z_]+)>")

_OF_EVERY_EVENT: Mapping[str, str] = {
    "region": "$.region",
    "account": "$.account",
    "time": "$.time",
}
_PLACED = "Region <region>, account <account>, <time>"


@dataclass(frozen=True, kw_only=True)
class JobWords:
    """The words for jobs of one kind of event."""

    paths: Mapping[str, str]
    """Place in a template to what of the event goes there: `job`, `status`, `secondary_status`
    and `reason` at least."""
    headline: str
    command: str
    """What shows the job."""
    fields: Mapping[str, str]
    """Of the object for programs, beside region, account and time: name to template."""
    reason_is_plain: bool
    """Whether a reason is known to have nothing in it that would end a text of JSON: EventBridge
    puts values in as they are, so that programs get no other."""

    def template(self, audience: Audience, *, has_reason: bool) -> str:
        """Return the template for events with or without a reason."""
        if audience == "programs":
            return self._body(has_reason=has_reason and self.reason_is_plain)
        reason = ["Reason: <reason>"] if has_reason else []
        return _text([self.headline, _PLACED, *reason, f"To look at it: {self.command}"])

    def paths_of(self, template: str) -> dict[str, str]:
        """Return place to JSON path, of those places that a template has."""
        known = {**_OF_EVERY_EVENT, **self.paths}
        return {place: known[place] for place in dict.fromkeys(_PLACE.findall(template))}

    def _body(self, *, has_reason: bool) -> str:
        """Return the template of a JSON object; `text` is what chats show."""
        reason = " Reason: <reason>." if has_reason else ""
        return json.dumps(
            {
                "text": f"{self.headline}.{reason} {_PLACED}. {self.command}",
                **self.fields,
                **({"reason": "<reason>"} if has_reason else {}),
                **{place: f"<{place}>" for place in _OF_EVERY_EVENT},
            }
        )


def _text(lines: Sequence[str]) -> str:
    """Return the template of a text: EventBridge wants each line between quotes of its own."""
    return "\n".join(f'"{line}"' for line in lines)
