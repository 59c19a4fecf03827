"""The document, the launcher and the node's program have the same words and limits."""

from __future__ import annotations

from typing import get_args

from node import dispatch, paths
from stacks.constructs import control_document
from training.platforms.ec2 import command


def test_program_and_actions_are_those_of_launcher_and_node() -> None:
    assert command.PROGRAM == control_document.PROGRAM == str(paths.COMMAND)
    assert get_args(command.Action) == control_document.ACTIONS
    assert set(control_document.ACTIONS) <= set(dispatch.ACTIONS)


def test_a_request_is_as_long_as_launcher_and_node_allow() -> None:
    assert f"{{0,{command.MAX_REQUEST_LENGTH}}}$" in control_document.REQUEST
    assert dispatch.LONGEST_REQUEST == command.MAX_REQUEST_LENGTH
