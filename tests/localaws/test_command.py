"""`python -m localaws`: what start, stop, status and env do to processes and files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from localaws.folders import StateDirectory
from localaws.process import find
from tests.conftest import ROOT, LocalAws, localaws, running_local_aws


def status(state_dir: Path) -> dict[str, object]:
    answer = localaws("status", "--state-dir", state_dir, "--format", "json")
    parsed: dict[str, object] = json.loads(answer.stdout)
    return parsed


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """One for the tests that only look; its folder has a name that shells dislike."""
    with running_local_aws(tmp_path_factory.mktemp("command") / "it's a folder") as running:
        yield running


def test_two_run_at_once_and_know_nothing_of_each_other(shared: LocalAws, tmp_path: Path) -> None:
    with running_local_aws(tmp_path) as other:
        assert other.endpoint != shared.endpoint
        other.client("s3").create_bucket(Bucket="only-in-other")
        assert shared.client("s3").list_buckets()["Buckets"] == []
        # Stopped for good, it leaves nothing behind.
        localaws("stop", "--state-dir", tmp_path, "--discard")
        assert list(tmp_path.iterdir()) == []
        assert shared.client("s3").list_buckets()["Buckets"] == []


def test_second_start_of_a_state_directory_answers_with_the_first(shared: LocalAws) -> None:
    again = localaws("start", "--port", "0", "--state-dir", shared.state_dir)
    assert again.stdout.strip() == shared.endpoint
    assert "already running" in again.stderr
    refused = localaws("start", "--discard", "--state-dir", shared.state_dir, check=False)
    assert refused.returncode == 2
    assert "localaws stop --discard" in refused.stderr


def test_every_command_that_is_advised_is_for_the_same_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    option = f"--state-dir '{folder}'"
    started = localaws("start", "--port", "0", "--state-dir", folder)
    try:
        assert f'eval "$(python -m localaws env {option})"' in started.stderr
        refused = localaws("start", "--discard", "--state-dir", folder, check=False)
        assert f"python -m localaws stop --discard {option}" in refused.stderr
    finally:
        localaws("stop", "--state-dir", folder)
    absent = localaws("env", "--state-dir", folder, check=False)
    assert f"python -m localaws start {option}" in absent.stderr
    (folder / "backends.pickle").write_bytes(b"not a pickle")
    damaged = localaws("start", "--port", "0", "--state-dir", folder, check=False)
    assert f"python -m localaws start --discard {option}" in damaged.stderr


def test_what_cannot_be_saved_can_be_thrown_away(tmp_path: Path) -> None:
    with running_local_aws(tmp_path):
        # Where the state is written first: no save can succeed.
        (tmp_path / "backends.new").mkdir()
        stopped = localaws("stop", "--state-dir", tmp_path, "--discard")
        assert "thrown away" in stopped.stderr
        assert list(tmp_path.iterdir()) == []


def test_listens_on_this_machine_only(shared: LocalAws) -> None:
    server = find(StateDirectory(shared.state_dir))
    assert server is not None
    listening = [
        connection.laddr.ip
        for connection in psutil.Process(server.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening == ["127.0.0.1"]


def test_taken_port_is_one_error_that_names_it(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        answer = localaws("start", "--port", str(port), "--state-dir", tmp_path, check=False)
    assert answer.returncode == 2
    assert answer.stderr.startswith(f"error: --port {port}: cannot be used on 127.0.0.1")
    assert "Traceback" not in answer.stderr
    assert status(tmp_path)["running"] is False


def test_record_of_a_reused_pid_never_stops_the_stranger(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        record = {"pid": stranger.pid, "create_time": 1.0, "endpoint": "http://127.0.0.1:1"}
        (tmp_path / "server.json").write_text(json.dumps(record))
        assert status(tmp_path)["running"] is False
        answer = localaws("stop", "--state-dir", tmp_path)
        assert "was not running" in answer.stderr
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_sigterm_keeps_the_state_and_a_kill_leaves_what_was_kept(tmp_path: Path) -> None:
    with running_local_aws(tmp_path) as running:
        running.client("s3").create_bucket(Bucket="kept")
        end(tmp_path, signal.SIGTERM)
        assert status(tmp_path)["running"] is False
    with running_local_aws(tmp_path) as again:
        again.client("s3").create_bucket(Bucket="lost")
        end(tmp_path, signal.SIGKILL)
        assert status(tmp_path)["running"] is False
    with running_local_aws(tmp_path) as last:
        assert [each["Name"] for each in last.client("s3").list_buckets()["Buckets"]] == ["kept"]


def end(state_dir: Path, number: signal.Signals) -> None:
    """Send a signal to a server, and wait for its end."""
    server = find(StateDirectory(state_dir))
    assert server is not None
    process = psutil.Process(server.pid)
    process.send_signal(number)
    process.wait(60)


def test_a_server_whose_folder_is_removed_leaves(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    started = json.loads(
        localaws("start", "--port", "0", "--state-dir", folder, "--format", "json").stdout
    )
    process = psutil.Process(started["pid"])
    shutil.rmtree(folder)
    assert process.wait(timeout=20) in (0, None)


@pytest.mark.parametrize("command", ["start", "stop", "status", "env"])
def test_an_empty_state_directory_is_not_this_folder(command: str) -> None:
    refused = localaws(command, "--state-dir", "", check=False)
    assert refused.returncode == 2
    assert "name a folder of its own" in refused.stderr


def test_damaged_state_is_one_error_and_stays_for_the_user(tmp_path: Path) -> None:
    (tmp_path / "backends.pickle").write_bytes(b"not a pickle")
    answer = localaws("start", "--port", "0", "--state-dir", tmp_path, check=False)
    assert answer.returncode == 2
    assert "the kept state cannot be read" in answer.stderr
    assert "start --discard" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert (tmp_path / "backends.pickle").read_bytes() == b"not a pickle"


def test_env_without_a_server_says_how_to_start_one(tmp_path: Path) -> None:
    answer = localaws("env", "--state-dir", tmp_path, check=False)
    assert answer.returncode == 4
    assert "python -m localaws start" in answer.stderr
    assert answer.stdout == ""


def test_env_can_be_evaluated_by_a_shell_wherever_the_state_is(shared: LocalAws) -> None:
    script = f'eval "$({sys.executable} -m localaws env --state-dir "$1")" && env'
    answer = subprocess.run(
        ["bash", "-c", script, "bash", str(shared.state_dir)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"AWS_PROFILE": "mine", "AWS_SESSION_TOKEN": "mine"},
    )
    seen = dict(line.split("=", 1) for line in answer.stdout.splitlines() if "=" in line)
    assert {name: seen.get(name) for name in shared.env} == shared.env
    assert "AWS_PROFILE" not in seen
    assert "AWS_SESSION_TOKEN" not in seen


def test_status_lists_file_systems_and_stacks(shared: LocalAws) -> None:
    template = json.dumps({"Resources": {"Shared": {"Type": "AWS::EFS::FileSystem"}}})
    shared.client("cloudformation").create_stack(StackName="One", TemplateBody=template)
    (file_system,) = shared.client("efs").describe_file_systems()["FileSystems"]
    file_system_id = file_system["FileSystemId"]
    seen = status(shared.state_dir)
    folder = shared.mounts / file_system_id
    assert folder.is_dir()
    assert seen["file_systems"] == [
        {"id": file_system_id, "type": "efs", "region": "us-east-1", "folder": str(folder)}
    ]
    assert seen["stacks"] == [{"name": "One", "status": "CREATE_COMPLETE", "region": "us-east-1"}]


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_impossible_port_is_wrong_usage(tmp_path: Path, port: str) -> None:
    answer = localaws("start", "--port", port, "--state-dir", tmp_path / "new", check=False)
    assert answer.returncode == 2
    assert not (tmp_path / "new").exists()
