"""How far a command is, as Systems Manager's operations show it."""

from __future__ import annotations

import pytest

from localaws.ssm.command import MAX_ERRORS, MAX_OUTPUT, MAX_PLUGIN_OUTPUT, RunCommand


def make(*instance_ids: str) -> RunCommand:
    targets = [{"Key": "tag:role", "Values": ["head"]}]
    return RunCommand(instance_ids, targets, account_id="123456789012", document_name="x")


def test_goes_from_pending_to_its_end() -> None:
    command = make("i-1")
    assert command.response_object()["StatusDetails"] == "Pending"
    assert command.of("i-1")["ResponseCode"] == -1
    command.begin("i-1")
    assert command.response_object()["StatusDetails"] == "InProgress"
    command.end("i-1", "Success", code=0, output="done\n", errors="")
    assert command.response_object()["StatusDetails"] == "Success"
    assert command.of("i-1")["StandardOutputContent"] == "done\n"


@pytest.mark.parametrize(
    ("ends", "details", "errors"),
    [
        (["Success", "Success"], "Success", 0),
        (["Success", "Failed"], "Failed", 1),
        (["ExecutionTimedOut", "Success"], "ExecutionTimedOut", 0),
    ],
)
def test_as_a_whole_is_what_its_worst_node_is(ends: list[str], details: str, errors: int) -> None:
    command = make("i-1", "i-2")
    for instance_id, end in zip(("i-1", "i-2"), ends, strict=True):
        command.end(instance_id, end, code=0, output="", errors="")
    found = command.response_object()
    assert (found["StatusDetails"], found["ErrorCount"]) == (details, errors)
    assert (found["CompletedCount"], found["TargetCount"]) == (2, 2)


def test_of_a_tag_that_no_node_has_says_so() -> None:
    found = make().response_object()
    assert (found["Status"], found["StatusDetails"]) == ("Success", "NoInstancesInTag")


def test_cuts_what_is_longer_than_ssm_gives() -> None:
    command = make("i-1")
    command.end("i-1", "Failed", code=1, output="x" * 30_000, errors="y" * 30_000)
    found = command.of("i-1")
    assert len(found["StandardOutputContent"]) == MAX_OUTPUT
    assert len(found["StandardErrorContent"]) == MAX_ERRORS
    (plugin,) = command.listed(details=True)[0]["CommandPlugins"]
    assert len(plugin["Output"]) == MAX_PLUGIN_OUTPUT


def test_bytes_count_and_no_letter_is_cut_in_two() -> None:
    command = make("i-1")
    command.end("i-1", "Success", code=0, output="€" * 9_000, errors="")
    found = command.of("i-1")["StandardOutputContent"]
    assert found.startswith("€" * 7_990)
    assert MAX_OUTPUT - 3 < len(found.encode()) <= MAX_OUTPUT
