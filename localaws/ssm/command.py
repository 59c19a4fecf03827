"""One command of Run Command, and how far it is on each node.

https://docs.aws.amazon.com/systems-manager/latest/userguide/monitor-commands.html
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from moto.ssm.models import Command

MAX_OUTPUT = 24_000
MAX_ERRORS = 8_000
MAX_PLUGIN_OUTPUT = 2_500
"""How much of what a command said GetCommandInvocation and ListCommandInvocations give. Bytes, as
the agent counts, though the pages say characters.

https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html
https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CommandPlugin.html
"""

_CUT = "\n---Output truncated---"

_ENDED = ("Success", "Failed", "TimedOut", "Cancelled")

Invocation = dict[str, Any]
"""In AWS's spelling."""


class RunCommand(Command):
    """A command that runs on hosts."""

    def __init__(self, instance_ids: Iterable[str], targets: list[Any], **arguments: Any) -> None:
        super().__init__(instance_ids=list(instance_ids), targets=[], **arguments)
        self.targets = targets
        self.target_count = len(self.instance_ids)
        self.by_tag = bool(targets)
        for invocation in self.invocations:
            invocation.update(_state("Pending"), ResponseCode=-1)
            invocation["ExecutionStartDateTime"] = invocation["ExecutionEndDateTime"] = ""
            invocation["ExecutionElapsedTime"] = ""

    def _get_instance_ids_from_targets(self) -> list[str]:
        # moto would add all instances that match, and all there are without a target.
        return []

    def of(self, instance_id: str) -> Invocation:
        """Return the command on one node."""
        found: Invocation = self.get_invocation(instance_id, None)
        return found

    def begin(self, instance_id: str) -> None:
        """Note that a node has begun."""
        self.of(instance_id).update(_state("InProgress"), ExecutionStartDateTime=_now())

    def end(self, instance_id: str, status: str, *, code: int, output: str, errors: str) -> None:
        """Note how it ended on a node, in SSM's StatusDetails."""
        self.of(instance_id).update(
            _state(status),
            ResponseCode=code,
            StandardOutputContent=_cut(output, MAX_OUTPUT),
            StandardErrorContent=_cut(errors, MAX_ERRORS),
            ExecutionEndDateTime=_now(),
        )

    def response_object(self) -> dict[str, Any]:
        states = [each["StatusDetails"] for each in self.invocations]
        if not states:
            state = _state("Success") | (
                {"StatusDetails": "NoInstancesInTag"} if self.by_tag else {}
            )
        elif any(_state(each)["Status"] not in _ENDED for each in states):
            state = _state("Pending" if set(states) == {"Pending"} else "InProgress")
        else:
            state = _state(next((each for each in states if each != "Success"), "Success"))
        counts = {
            "CompletedCount": sum(_state(each)["Status"] in _ENDED for each in states),
            "ErrorCount": sum(each == "Failed" for each in states),
        }
        return {**super().response_object(), **state, **counts}

    def listed(self, *, details: bool) -> list[dict[str, Any]]:
        """Return the command on its nodes, as ListCommandInvocations shows it."""
        names = ("CommandId", "InstanceId", "Comment", "DocumentName", "Status", "StatusDetails")
        return [
            {name: each[name] for name in names}
            | {
                "RequestedDateTime": self.requested_date_time,
                "CommandPlugins": [_plugin(each)] if details else [],
            }
            for each in self.invocations
        ]


def _plugin(invocation: Invocation) -> dict[str, Any]:
    output = invocation["StandardOutputContent"]
    if invocation["StandardErrorContent"]:
        output += "\n----------ERROR-------\n" + invocation["StandardErrorContent"]
    return {
        "Name": invocation["PluginName"],
        "Status": invocation["Status"],
        "StatusDetails": invocation["StatusDetails"],
        "ResponseCode": invocation["ResponseCode"],
        "Output": _cut(output, MAX_PLUGIN_OUTPUT),
    }


def _state(details: str) -> dict[str, str]:
    status = {"DeliveryTimedOut": "TimedOut", "ExecutionTimedOut": "TimedOut"}.get(details, details)
    return {"Status": status, "StatusDetails": details}


def _cut(text: str, most: int) -> str:
    encoded = text.encode()
    if len(encoded) <= most:
        return text
    return encoded[: most - len(_CUT)].decode(errors="ignore") + _CUT


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
