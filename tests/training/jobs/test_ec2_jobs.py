"""The commands about jobs on the cluster, as a user types them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LocalAws
from tests.training.platforms.ec2.planning import CLUSTER, document
from tests.training.platforms.ec2.small_cluster import SmallCluster
from tests.training.platforms.ec2.ssm_server import SsmServer, serving
from tests.training.platforms.sagemaker.planning import STACKS
from tests.training.pretender import environ
from training.cli import run
from training.jobs.__main__ import app
from training.platforms.ec2 import follow, head_by_ssm

Jobs = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cluster() -> SmallCluster:
    found = SmallCluster()
    found("submit", document(name="job-1"))
    return found


@pytest.fixture
def ssm(cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[SsmServer]:
    with serving(cluster) as server:
        for name, value in environ(server.endpoint).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(head_by_ssm, "FIRST_LOOK_S", 0.01)
        monkeypatch.setattr(follow, "LOOK_S", 0.01)
        server.statuses = []
        yield server


@pytest.fixture
def jobs(
    ssm: SsmServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Jobs:
    """Run a command about jobs; return exit code, stdout and stderr."""
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps({**STACKS, "ClusterStack": CLUSTER}))
    monkeypatch.setenv("MASK_RCNN_MOUNTS", str(tmp_path / "mounts"))

    def invoke(*arguments: str) -> tuple[int, str, str]:
        options = ("--platform", "ec2", "--outputs-file", str(file))
        monkeypatch.setattr("sys.argv", ["jobs", *arguments, *options])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run(app)
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return invoke


def test_watching_ends_as_following_does(jobs: Jobs, cluster: SmallCluster) -> None:
    cluster.jobs["job-1"]["state"] = "checkpointed"
    ends = [jobs(*command, "job-1") for command in (("status", "--watch"), ("logs", "-f"))]
    assert [code for code, _, _ in ends] == [75, 75]
    assert all(
        "to go on: the same launch command with --resume --name job-1" in e for *_, e in ends
    )


def test_jobs_are_listed_newest_first(jobs: Jobs, cluster: SmallCluster) -> None:
    cluster.jobs["job-1"]["state"] = "checkpointed"
    cluster("submit", document(name="job-2"))
    code, stdout, _ = jobs("list", "--format", "json")
    found = json.loads(stdout)["jobs"]
    assert (code, [each["name"] for each in found]) == (0, ["job-2", "job-1"])
    assert [each["status"] for each in found] == ["running", "checkpointed"]
    assert found[1]["ended"] == "2026-01-02T04:04:05+00:00"
    code, stdout, _ = jobs("list", "--limit", "1")
    head, row = stdout.splitlines()
    assert head.split() == ["NAME", "STATUS", "STAGE", "CREATED", "MACHINES"]
    assert row.startswith("job-2  running  step 40")
    assert row.endswith("  workers p4d.24xlarge")


def test_jobs_that_have_no_room_in_the_answer_are_counted(
    jobs: Jobs, cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cluster._list
    monkeypatch.setattr(cluster, "_list", lambda request: {**whole(request), "left_out": 940})
    code, stdout, stderr = jobs("list", "--limit", "1000", "--format", "json")
    assert (code, len(json.loads(stdout)["jobs"])) == (0, 1)
    assert stderr == "The head node's answer has no room for 940 older jobs.\n"


def test_a_job_is_shown_with_its_folder_on_efs(jobs: Jobs) -> None:
    code, stdout, _ = jobs("status", "job-1", "--format", "json")
    found = json.loads(stdout)
    efs = STACKS["StorageStack"]["EfsId"]
    assert code == 0
    assert found["log"] == f"{efs}:/mask-rcnn/sagemaker/output/log-job-1"
    assert (found["status"], found["detail"], found["model"]) == ("running", "step 40", None)
    assert found["machines"] == "2 host(s), workers p4d.24xlarge"


def test_the_hours_of_its_hosts_are_asked_of_the_job_itself(
    jobs: Jobs, cluster: SmallCluster
) -> None:
    # Its list has no hosts.
    cluster.jobs["job-1"] |= {"state": "completed", "started": "2026-01-02T03:34:05Z"}
    cluster("submit", document(name="job-2"))
    code, stdout, _ = jobs("cost", "--format", "json")
    found = {job["name"]: job["instance_hours"] for job in json.loads(stdout)["jobs"]}
    # Two hosts for half an hour, until it ended; the other has no ranks yet.
    assert (code, found) == (0, {"job-1": 1.0, "job-2": 0.0})


def test_lines_are_shown_as_they_are_by_now(jobs: Jobs, cluster: SmallCluster) -> None:
    code, stdout, _ = jobs("logs", "job-1")
    assert (code, stdout) == (0, cluster.output)


@pytest.mark.parametrize(
    ("end", "exit_code", "said"),
    [
        ({"state": "completed"}, 0, "job-1: completed, on 2 host(s)"),
        ({"state": "failed", "reason": "rank 1: no space left"}, 1, "no space left"),
        ({"state": "checkpointed"}, 75, "--resume --name job-1"),
        ({"state": "stopped"}, 130, "before there was a checkpoint"),
    ],
)
def test_a_job_is_followed_to_each_end(
    jobs: Jobs,
    cluster: SmallCluster,
    end: dict[str, Any],
    exit_code: int,
    said: str,
) -> None:
    cluster.end = end
    code, stdout, stderr = jobs("logs", "-f", "job-1")
    assert (code, stdout) == (exit_code, cluster.output)
    assert said in stderr


def test_a_job_is_asked_to_end(jobs: Jobs) -> None:
    code, stdout, _ = jobs("stop", "job-1")
    assert (code, stdout.splitlines()[0]) == (0, "job-1: stopping (step 40)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("status", "job-9"), "there is no job job-9 on this cluster"),
        (("logs", "-f", "job-9"), "there is no job job-9 on this cluster"),
        (("status", "../x"), "'../x': no job has such a name: 1 to 63 letters, digits and -"),
        (("stop", "-".join("ab" * 40)), "no job has such a name"),
    ],
)
def test_a_name_that_is_not_there_is_wrong_usage(
    jobs: Jobs, arguments: tuple[str, ...], said: str
) -> None:
    code, stdout, stderr = jobs(*arguments)
    assert (code, stdout) == (2, "")
    assert said in stderr


def test_a_cluster_without_its_stack_says_which_command_deploys_it(
    jobs: Jobs, tmp_path: Path
) -> None:
    (tmp_path / "outputs.json").write_text(json.dumps(STACKS))
    code, _, stderr = jobs("list")
    assert code == 2
    assert "ClusterStack is not there" in stderr
    assert "cdk deploy ClusterStack" in stderr


def test_without_a_head_the_lines_come_from_cloudwatch(
    jobs: Jobs, ssm: SsmServer, local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssm.ends = "Undeliverable"
    region = CLUSTER["KeySecretArn"].split(":")[3]
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", local_aws.endpoint)
    logs = local_aws.session().client("logs", endpoint_url=local_aws.endpoint, region_name=region)
    group, stream = CLUSTER["LogGroupName"], "job-1/head"
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    now_ms = 1000 * int(time.time())
    events = [{"timestamp": now_ms + n, "message": f"line {n}"} for n in range(3)]
    logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)
    code, stdout, stderr = jobs("logs", "job-1")
    assert (code, stdout) == (0, "line 0\nline 1\nline 2\n"), stderr
    assert "the head node of cluster mask-rcnn does not answer" in stderr
    assert "Its lines from CloudWatch Logs" in stderr
    code, stdout, stderr = jobs("logs", "job-7")
    assert (code, stdout) == (4, "")
    assert "job-7: neither the head node nor CloudWatch Logs" in stderr


def test_a_head_that_goes_between_two_answers_gives_no_line_twice(
    jobs: Jobs, ssm: SsmServer, cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.output = "x" * 9999 + "\n" + "y" * 9999 + "\n"
    first = cluster._logs

    def logs(request: dict[str, Any]) -> dict[str, Any]:
        ssm.ends = "Undeliverable"
        return first(request)

    monkeypatch.setattr(cluster, "_logs", logs)
    code, stdout, stderr = jobs("logs", "job-1")
    assert (code, stdout) == (4, "x" * 9999 + "\n")
    assert "the head node of cluster mask-rcnn does not answer" in stderr
    assert "CloudWatch" not in stderr


def test_the_report_is_written_where_efs_is_mounted_and_else_its_place_is_told(
    jobs: Jobs, tmp_path: Path
) -> None:
    efs = STACKS["StorageStack"]["EfsId"]
    code, stdout, stderr = jobs("report", "job-1")
    place = f"{efs}:/mask-rcnn/sagemaker/output/log-job-1/report.html"
    assert (code, stdout) == (0, f"{place}\n")
    assert "Its log folder is not on this machine" in stderr
    folder = tmp_path / "mounts" / efs / "mask-rcnn/sagemaker/output/log-job-1"
    folder.mkdir(parents=True)
    predictions = {"split": "val2017", "step": 3, "detections": []}
    (folder / "predictions.json").write_text(json.dumps(predictions), encoding="utf-8")
    code, stdout, _ = jobs("report", "job-1", "--format", "json")
    assert (code, json.loads(stdout)["report"]) == (0, str(folder / "report.html"))
    assert (folder / "report.html").is_file()
