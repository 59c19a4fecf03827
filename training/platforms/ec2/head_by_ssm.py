"""Asks the head node by Systems Manager: no port is open, and none is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.ssm import MAX_OUTPUT, Invocation
from training.errors import AwsError
from training.outputs import ClusterOutputs
from training.platforms.common.patience import Patience, Timer
from training.platforms.ec2.answer import AnswerLost, ClusterRefused, HeadAway, read_answer
from training.platforms.ec2.command import Action, send_command
from training.platforms.ec2.commands import HEALTH

FIRST_LOOK_S, LONGEST_PAUSE_S = 0.5, 5.0
"""Between two looks at a command, longer each time."""

NOBODY_S = 20.0
"""After it, a command that has no node yet is asked why."""

_DONE = frozenset({"Success", "Failed"})
"""The program ran to its end and answered, if only with a refusal."""

_ON_THE_WAY = frozenset({"Pending", "InProgress", "Delayed", "Cancelling"})

_WHY = {
    "NoInstancesInTag": "Systems Manager manages no instance of the group",
    "DeliveryTimedOut": "it was not delivered in time",
    "Undeliverable": "it cannot be delivered: the node is not there, or does not answer",
    "ExecutionTimedOut": "the node's program did not end in time",
    "Terminated": "Systems Manager gave it up",
    "Cancelled": "somebody cancelled it",
    "AccessDenied": "the node's role may not take it",
}
"""By StatusDetails: https://docs.aws.amazon.com/systems-manager/latest/userguide/monitor-commands.html"""


class HeadBySsm:
    """See `training.platforms.ec2.head.Head`."""

    def __init__(self, cluster: ClusterOutputs, *, patience: Patience, timer: Timer) -> None:
        self._cluster = cluster
        self._patience = patience
        self._timer = timer

    def ask(
        self,
        action: Action,
        request: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = 120.0,
        about: str = "",
    ) -> dict[str, Any]:
        """See `training.platforms.ec2.head.Head`."""
        body = send_command(self._cluster, action, request, about=about)
        command_id = self._send(body)
        try:
            invocation = self._wait(command_id, self._timer.now() + timeout_s)
        except HeadAway:
            raise
        except AwsError as error:
            raise AnswerLost(f"{action} was sent, and its answer cannot be had: {error}") from error
        if len(invocation.output.encode()) >= MAX_OUTPUT:
            raise AwsError(
                f"the head node's answer to {action} is longer than the {MAX_OUTPUT:,} bytes that "
                "Systems Manager gives"
            )
        return read_answer(invocation.output, invocation.errors)

    def _send(self, body: Mapping[str, Any]) -> str:
        try:
            return self._patience.ask(lambda clients: clients.ssm.send_command(body))
        except AwsRefused as error:
            if error.code != "InvalidDocument":
                raise
            raise ClusterRefused(
                f"{self._cluster.STACK} has no SSM document {self._cluster.document_name} any "
                f"more: it was destroyed, or is another's. Deploy it: cdk deploy "
                f"{self._cluster.STACK} ({error})"
            ) from error

    def _wait(self, command_id: str, until: float) -> Invocation:
        """Return the command on the node that has answered."""
        pause_s, begun = FIRST_LOOK_S, self._timer.now()
        while True:
            self._timer.sleep(pause_s)
            found = self._patience.ask(lambda clients: clients.ssm.invocations(command_id))
            answered = _answered(found)
            for each in answered:
                if whole := self._whole(command_id, each.instance_id):
                    return whole
            if not answered:
                self._require_hope(command_id, found, waited_s=self._timer.now() - begun)
            if self._timer.now() >= until:
                self._cancel(command_id)
                raise self._away("it did not answer in time")
            pause_s = min(LONGEST_PAUSE_S, pause_s * 1.5)

    def _whole(self, command_id: str, instance_id: str) -> Invocation | None:
        """Return what the program said, once Systems Manager has it."""
        found = self._patience.ask(lambda clients: clients.ssm.invocation(command_id, instance_id))
        return found if found is not None and found.status in _DONE else None

    def _require_hope(
        self, command_id: str, found: Sequence[Invocation], *, waited_s: float
    ) -> None:
        if any(each.status in _ON_THE_WAY for each in found):
            return
        if found:
            raise self._away(_WHY.get(found[0].status, found[0].status))
        if waited_s < NOBODY_S:
            return
        status = self._patience.ask(lambda clients: clients.ssm.command_status(command_id))
        # With no node at all, the command as a whole counts as a success.
        if status is not None and status not in _ON_THE_WAY:
            raise self._away(
                _WHY.get("NoInstancesInTag" if status == "Success" else status, status)
            )

    def _away(self, why: str) -> HeadAway:
        return HeadAway(
            f"the head node of cluster {self._cluster.cluster_name} does not answer ({why}). If "
            f"it is being replaced, try again in some minutes; to see how it is: {HEALTH}"
        )

    def _cancel(self, command_id: str) -> None:
        """Take a command back, so that no node does later what nobody waits for any more."""
        try:
            self._patience.ask(lambda clients: clients.ssm.cancel_command(command_id), attempts=2)
        except AwsError:
            return


def _answered(found: Sequence[Invocation]) -> list[Invocation]:
    """Return those that have an answer.

    There may be two nodes for a moment, while a head node is replaced. Where one has failed, which
    may be the one that goes, the other is waited for.
    """
    done = [each for each in found if each.status in _DONE]
    good = [each for each in done if each.status == "Success"]
    if good or not any(each.status in _ON_THE_WAY for each in found):
        return good or done
    return []
