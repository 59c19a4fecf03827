"""A stack that waits for what its instances say."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from subprocess import DEVNULL, Popen
from typing import Any

import pytest
from botocore.exceptions import ClientError

from localaws import process
from localaws.cloudformation.signals import Outcome, Signals
from localaws.folders import StateDirectory
from tests.conftest import ROOT, LocalAws
from tests.localaws.cloudformation.cluster_template import (
    PARAMETERS,
    UBUNTU_24,
    cluster,
    members,
    reasons,
    shown,
)
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

SERVE = """
from localaws import instance_signals, server
instance_signals.expect(True)
server.main()
"""

KEY = ("stack", "Workers")


def test_signals_are_counted_once_for_each_instance() -> None:
    signals, told = Signals(), []
    signals.send(KEY, "i-1", "SUCCESS")
    signals.send(KEY, "i-1", "SUCCESS")
    signals.send(KEY, "i-2", "FAILURE")
    signals.send(("stack", "Head"), "i-3", "SUCCESS")
    outcome = signals.wait(KEY, 3, 0.0, heard=lambda id_, signal: told.append((id_, signal)))
    assert outcome == Outcome(successes=1, failures=1, missing=1)
    assert sorted(told) == [("i-1", "SUCCESS"), ("i-2", "FAILURE")]
    assert signals.wait(KEY, 1, 0.0, awaited=lambda: {"i-2"}) == Outcome(0, 1, 0)
    signals.forget(KEY)
    assert signals.wait(KEY, 1, 0.0) == Outcome(0, 0, 1)


def test_waiting_ends_with_the_signal_and_with_the_server() -> None:
    signals = Signals()
    outcomes: list[Outcome] = []
    waiting = threading.Thread(target=lambda: outcomes.append(signals.wait(KEY, 1, 60.0)))
    waiting.start()
    signals.send(KEY, "i-1", "SUCCESS")
    waiting.join(10)
    signals.stop()
    outcomes.append(signals.wait(KEY, 2, 60.0))
    assert outcomes == [Outcome(1, 0, 0), Outcome(1, 0, 1)]


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """A local AWS that waits for signals, as where hosts run; the tests are the hosts."""
    directory = StateDirectory(tmp_path_factory.mktemp("signals"))
    directory.file_systems.mkdir(parents=True)
    command = [sys.executable, "-c", SERVE, str(directory.root), "0"]
    with Popen(command, cwd=ROOT, env=process._clean_environment(), stderr=DEVNULL) as server:
        try:
            while (found := process.find(directory)) is None:
                assert server.poll() is None
                time.sleep(0.05)
            env = {
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_REGION": "us-east-1",
            }
            yield LocalAws(found.endpoint, env, directory.root, directory.file_systems)
        finally:
            server.terminate()


@pytest.fixture
def stack(aws: LocalAws) -> Iterator[Stack]:
    made = Stack(aws)
    yield made
    made.delete()
    wait(made, "DELETE_COMPLETE", gone=True)


def wait(stack: Stack, *statuses: str, gone: bool = False) -> dict[str, Any]:
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        try:
            described = stack.describe()
        except ClientError:
            assert gone
            return {}
        if described["StackStatus"] in statuses:
            return described
        time.sleep(0.1)
    raise AssertionError(described["StackStatus"])


def new_members(aws: LocalAws, stack: Stack, count: int, old: set[str]) -> set[str]:
    """Wait for instances that were not there."""
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        if "Workers" in stack.ids() and len(new := members(aws, stack) - old) >= count:
            return new
        time.sleep(0.1)
    raise AssertionError(f"{count} new instances did not come")


def signal(stack: Stack, ids: set[str], status: str = "SUCCESS") -> None:
    for id_ in ids:
        stack.cloudformation.signal_resource(
            StackName=stack.name, LogicalResourceId="Workers", UniqueId=id_, Status=status
        )


def create(stack: Stack, resources: Resources) -> None:
    assert stack.create(resources, Parameters=PARAMETERS)["StackStatus"] == "CREATE_IN_PROGRESS"


def test_stack_is_complete_when_its_instances_say_so(aws: LocalAws, stack: Stack) -> None:
    create(stack, cluster(desired=2, signals={"Count": 2, "Timeout": "PT5M"}))
    first, second = sorted(new_members(aws, stack, 2, set()))
    signal(stack, {first})
    signal(stack, {first})
    assert stack.describe()["StackStatus"] == "CREATE_IN_PROGRESS"
    signal(stack, {second})
    wait(stack, "CREATE_COMPLETE")
    told = reasons(stack)
    assert f"Received SUCCESS signal with UniqueId {first}" in told
    with pytest.raises(ClientError, match="is in CREATE_COMPLETE state and can not be signaled"):
        signal(stack, {first})


def test_failed_set_up_fails_the_stack(aws: LocalAws, stack: Stack) -> None:
    create(stack, cluster(desired=1, signals={"Timeout": "PT5M"}))
    signal(stack, new_members(aws, stack, 1, set()), "FAILURE")
    failed = wait(stack, "ROLLBACK_COMPLETE")
    assert "Received 1 FAILURE signal(s) out of 1" in failed["StackStatusReason"]


def test_silent_instance_fails_the_stack_when_the_time_is_over(stack: Stack) -> None:
    create(stack, cluster(desired=1, signals={"Timeout": "PT1S"}))
    failed = wait(stack, "ROLLBACK_COMPLETE")
    assert (
        "Failed to receive 1 resource signal(s) within the specified duration"
        in (failed["StackStatusReason"])
    )


def test_roll_goes_on_batch_after_batch_and_back_after_a_failure(
    aws: LocalAws, stack: Stack
) -> None:
    resources = cluster(desired=2, signals={"Count": 2, "Timeout": "PT5M"})
    create(stack, resources)
    old = new_members(aws, stack, 2, set())
    signal(stack, old)
    wait(stack, "CREATE_COMPLETE")

    values = [{"ParameterKey": "Image", "ParameterValue": UBUNTU_24}]
    stack.update(resources, arguments={"Parameters": values}, Parameters=PARAMETERS)
    first = new_members(aws, stack, 1, old)
    # One at a time: the other one is still as it was.
    assert len(members(aws, stack) & old) == 1
    signal(stack, first)
    second = new_members(aws, stack, 1, old | first)
    signal(stack, second, "FAILURE")
    # Back again, in the same way.
    third = new_members(aws, stack, 1, old | first | second)
    signal(stack, third)
    signal(stack, new_members(aws, stack, 1, old | first | second | third))
    failed = wait(stack, "UPDATE_ROLLBACK_COMPLETE")
    assert "Received 1 FAILURE signal(s) out of 2" in failed["StackStatusReason"]
    versions = {each["LaunchTemplate"]["Version"] for each in shown(aws, stack)["Instances"]}
    assert versions == {"1"}
