"""The commands about training jobs, as a user types them, on a local AWS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import LocalAws
from tests.training.jobs.commands import Commands
from tests.training.platforms.ec2.planning import CLUSTER
from tests.training.platforms.eks.planning import KUBERNETES
from tests.training.platforms.sagemaker.planning import STACKS
from training.errors import UsageError
from training.jobs.control import NAMES, JobControl, load


@pytest.fixture
def commands(local_aws: LocalAws) -> Commands:
    return Commands(local_aws)


def test_a_job_that_runs_is_listed_shown_and_stopped(commands: Commands) -> None:
    foreign = commands.make("foreign", ours=False)
    name = commands.make("long", hosts=2, seconds="600")
    code, stdout, _ = commands.run("list", "--format", "json", "--limit", "1000")
    listed = [job["name"] for job in json.loads(stdout)["jobs"]]
    assert (code, name in listed, foreign in listed) == (0, True, False)
    code, stdout, _ = commands.run("list", "--limit", "1")
    head, row = stdout.splitlines()
    assert (code, head.split(), row.split()[:2]) == (
        0,
        ["NAME", "STATUS", "STAGE", "CREATED", "MACHINES"],
        [name, "running"],
    )
    assert row.index("running") == head.index("STATUS")
    code, stdout, _ = commands.run("status", name)
    assert (code, stdout.splitlines()[0].startswith(f"{name}: running (")) == (0, True)
    code, stdout, stderr = commands.run("stop", name, "--format", "json")
    assert (code, json.loads(stdout)["status"], stderr) == (0, "stopping", "")


@pytest.mark.slow
def test_jobs_are_followed_to_each_end(commands: Commands) -> None:
    names = {
        "completed": commands.make("completed", hosts=2, seconds="2"),
        "failed": commands.make("failed", seconds="1", ending="Failed"),
        "capacity": commands.make("capacity", ending="CapacityError"),
        "limit": commands.make("limit", seconds="1", ending="MaxRuntimeExceeded"),
    }
    followers = {case: commands.start("logs", "-f", name) for case, name in names.items()}
    ended = {
        case: (*each.communicate(timeout=200), each.returncode) for case, each in followers.items()
    }
    assert {case: code for case, (_, _, code) in ended.items()} == {
        "completed": 0,
        "failed": 1,
        "capacity": 4,
        "limit": 75,
    }
    stdout, stderr, _ = ended["completed"]
    lines = stdout.splitlines()
    for host in ("algo-1", "algo-2"):
        own = [line.removeprefix(f"[{host}] ") for line in lines if line.startswith(f"[{host}]")]
        assert "nothing trains here" in own[0]
        assert own[1:] == ["line 1", "line 2", "line 3"]
    for said in (
        "Downloading: ",
        "Training: ",
        "Completed: ",
        "billed: ",
        "model: s3://bucket/out/",
    ):
        assert said in stderr
    assert f"error: {names['failed']} failed: AlgorithmError: algo-1" in ended["failed"][1]
    assert "Last lines of algo-1:\n  Local AWS runs no container" in ended["failed"][1]
    assert "got no machines: CapacityError" in ended["capacity"][1]
    assert "with --resume --name limit goes on" in ended["limit"][1]
    # Whoever only watches is told the same end.
    for case, (_, stderr, code) in ended.items():
        watched, _, said = commands.run("status", "--watch", names[case])
        assert watched == code
        end = next((line for line in stderr.splitlines() if line[:6] in {"error:", "stoppe"}), "")
        assert said.splitlines()[:1] == ([end] if end else [])
    # Once it has ended, its lines are there all the same.
    code, again, _ = commands.run("logs", names["completed"])
    # The order of two hosts is that in which their lines arrived.
    assert (code, sorted(again.splitlines())) == (0, sorted(lines))


def test_ctrl_c_leaves_the_job_running(commands: Commands) -> None:
    name = commands.make("watched", seconds="600")
    watching = commands.start("logs", "-f", name)
    assert watching.stderr is not None
    assert "Starting" in watching.stderr.readline()
    watching.send_signal(2)
    _, stderr = watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert f"stopped: watching; {name} goes on." in stderr
    assert json.loads(commands.run("status", name, "--format", "json")[1])["status"] == "running"
    commands.run("stop", name)


def test_a_name_that_is_not_there_is_wrong_usage(commands: Commands) -> None:
    code, stdout, stderr = commands.run("logs", "no-such-job")
    assert (code, stdout) == (2, "")
    assert stderr.startswith("error: no-such-job: SageMaker has no training job of this name")


@pytest.mark.parametrize(
    ("platform", "said"),
    [
        ("local", "--platform local: its jobs end with the command that runs them"),
        ("moon", "--platform moon: is not one of sagemaker, ec2"),
    ],
)
def test_platforms_without_such_jobs_are_wrong_usage(platform: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"^{said}"):
        load(platform)


def test_every_platform_has_all_that_the_commands_need(tmp_path: Path) -> None:
    outputs_file = tmp_path / "outputs.json"
    outputs_file.write_text(
        json.dumps({**STACKS, "ClusterStack": CLUSTER, "KubernetesStack": KUBERNETES})
    )
    needed = {name for name in vars(JobControl) if not name.startswith("_")}
    for platform in NAMES:
        assert needed <= set(dir(load(platform, outputs_file)))
