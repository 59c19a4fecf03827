"""The launcher as its users meet it: real processes, real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import psutil
import pytest

from tests.training.conftest import BUCKET, PROJECT, Place
from training.layout import LogChannel


@pytest.fixture
def cloud(place: Place, local_aws: Any) -> Iterator[Place]:
    """A place whose bucket is there."""
    environ = local_aws.env
    client = boto3.client(
        "s3",
        endpoint_url=environ["AWS_ENDPOINT_URL"],
        region_name=environ["AWS_REGION"],
        aws_access_key_id=environ["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environ["AWS_SECRET_ACCESS_KEY"],
    )
    client.create_bucket(Bucket=BUCKET)
    mounts = place.environ["MASK_RCNN_MOUNTS"]
    yield Place(place.root, {**environ, "MASK_RCNN_MOUNTS": mounts})
    for item in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=item["Key"])
    client.delete_bucket(Bucket=BUCKET)


def trainers(log: LogChannel) -> list[psutil.Process]:
    """The training processes of the job with this log folder, by rank as far as known."""
    found = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if str(log.root) in line and "training.maskrcnn.train" in line:
            found.append(process)
    return found


def wait_until(condition: Callable[[], Any], timeout_s: float = 200) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.1)


def steps(log: LogChannel) -> list[int]:
    """The training steps in metrics.jsonl, in the order written."""
    if not log.metrics.exists():
        return []
    lines = [json.loads(line) for line in log.metrics.read_text().splitlines()]
    return [line["step"] for line in lines if line["kind"] == "train"]


@pytest.mark.slow
def test_two_processes_train_as_shown_and_leave_everything_in_the_log_channel(cloud: Place) -> None:
    words = (str(cloud.write_job()), "--name", "job")
    shown = json.loads(cloud.launch(*words, "--dry-run", "--format", "json").stdout)
    done = cloud.launch(*words, "--yes")
    assert done.returncode == 0, done.stderr
    log = cloud.log("job")
    assert json.loads(log.job.read_text())["request"] == shown["request"]
    assert "[rank 0] " in done.stderr
    assert not (cloud.root / "hacked").exists()
    assert not (PROJECT / "hacked").exists()
    check_that_all_is_there(cloud, log)


@pytest.mark.soak  # ranks of MPI that wait take a core each; docker/entrypoint trains over MPI too
def test_two_processes_of_mpi_go_on_when_nobody_reads_their_output_any_more(cloud: Place) -> None:
    job = str(cloud.write_job())
    process = cloud.start(job, "--name", "job", "--yes", "--set", "local.controller=mpi")
    assert process.stderr is not None
    process.stderr.readline()
    process.stderr.close()
    assert process.wait(timeout=250) == 0
    check_that_all_is_there(cloud, cloud.log("job"))


def check_that_all_is_there(cloud: Place, log: LogChannel) -> None:
    """Check what a job of two processes and eight steps leaves."""
    assert steps(log) == list(range(1, 9))
    assert json.loads(log.outcome.read_text())["status"] == "completed"
    assert json.loads(log.job.read_text())["world_size"] == 2
    for rank in (0, 1):
        assert log.rank(rank).stat().st_size > 0
    assert "mAP(segm)/IoU=0.5:0.95: " in log.rank(0).read_text()
    assert list(log.events.glob("events.out.tfevents.*"))
    assert list(log.checkpoints.iterdir())
    assert "<html" in log.report.read_text()
    uploaded = boto3.client(
        "s3",
        endpoint_url=cloud.environ["AWS_ENDPOINT_URL"],
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    ).get_object(Bucket=BUCKET, Key="mask-rcnn/sagemaker/output/job/model.pt")
    assert uploaded["Body"].read() == log.model.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "controller",
    # Open MPI that ends its ranks is shown on hosts in tests/docker/entrypoint.
    ["gloo", pytest.param("mpi", marks=pytest.mark.soak)],
)
def test_a_killed_rank_fails_the_job_within_half_a_minute(place: Place, controller: str) -> None:
    job = place.write_job(lr_epoch_schedule=[[500, None]])
    process = place.start(
        str(job), "--name", "job", "--yes", "--set", f"local.controller={controller}"
    )
    log = place.log("job")
    wait_until(lambda: len(steps(log)) >= 2)
    victim = next(
        p
        for p in trainers(log)
        if "1" in {p.environ().get("HOROVOD_RANK"), p.environ().get("OMPI_COMM_WORLD_RANK")}
    )
    killed_at = time.monotonic()
    victim.kill()
    _, stderr = process.communicate(timeout=40)
    assert process.returncode == 1
    assert time.monotonic() - killed_at < 30
    assert "error: the job failed: rank 1 was killed by SIGKILL" in stderr
    assert "Last lines of rank 1:" in stderr
    assert trainers(log) == []
    assert log.report.exists()


@pytest.mark.soak  # that ranks leave by themselves, and where they go on, tests of the trainer show
def test_a_job_that_was_killed_whole_goes_on_from_its_last_checkpoint(cloud: Place) -> None:
    job = cloud.write_job(lr_epoch_schedule=[[4, None]])
    process = cloud.start(str(job), "--name", "job", "--yes")
    log = cloud.log("job")
    wait_until(lambda: len(steps(log)) >= 5)
    # The launcher alone: its processes have to notice by themselves.
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    wait_until(lambda: trainers(log) == [], timeout_s=20)
    before = steps(log)
    done = cloud.launch(str(job), "--name", "job", "--yes", "--resume")
    assert done.returncode == 0, done.stderr
    after = steps(log)[len(before) :]
    assert after == list(range(after[0], 17))
    # Checkpoints are written every second step: at most two steps are done again.
    assert before[-1] - 2 < after[0] <= before[-1] + 1
    assert json.loads(log.outcome.read_text())["status"] == "completed"


@pytest.mark.slow
def test_sigterm_saves_a_checkpoint_to_go_on_from_and_without_s3_the_model_stays_where_it_is(
    place: Place,
) -> None:
    nowhere = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "us-east-1",
    }
    alone = Place(place.root, {**place.environ, **nowhere})
    job = str(alone.write_job(lr_epoch_schedule=[[6, None]], checkpoint_period=1000))
    process = alone.start(job, "--name", "job", "--yes")
    log = alone.log("job")
    wait_until(lambda: len(steps(log)) >= 3)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 75, stderr
    assert "stopped: by a signal, with a checkpoint at step" in stderr
    assert "with --resume --name job to go on" in stderr
    stopped_at = json.loads(log.outcome.read_text())["step"]
    assert 3 <= stopped_at < 24
    done = alone.launch(job, "--name", "job", "--yes", "--resume")
    assert steps(log) == list(range(1, 25))
    # It is trained; what is to be copied has nowhere to go.
    assert done.returncode == 4, done.stderr
    assert "127.0.0.1:9" in done.stderr
    assert log.model.exists()
    assert log.report.exists()


@pytest.mark.soak  # test_supervise.py shows that the limit asks, and the test above what follows
def test_a_time_limit_stops_the_job(place: Place) -> None:
    job = place.write_job(lr_epoch_schedule=[[5000, None]])
    done = place.launch(str(job), "--name", "job", "--yes", "--set", "limits.max_run_s=12")
    assert done.returncode == 75, done.stderr
    assert "stopped: by its time limit, with a checkpoint" in done.stderr
    assert "with --resume --name job to go on" in done.stderr


def test_a_time_limit_before_any_step_leaves_nothing_to_go_on_from(place: Place) -> None:
    done = place.launch(
        str(place.write_job()), "--name", "job", "--yes", "--set", "limits.max_run_s=1"
    )
    assert done.returncode == 130, done.stderr
    assert "stopped: by its time limit, before there was a new checkpoint" in done.stderr


def test_two_launches_never_share_a_log_folder(place: Place) -> None:
    job = place.write_job(lr_epoch_schedule=[[5000, None]])
    first = place.start(str(job), "--name", "job", "--yes")
    wait_until(place.log("job").job.exists)
    second = place.launch(str(job), "--name", "job", "--yes", "--resume")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=120)
    assert second.returncode == 2
    assert "is in use: the job in it is still running" in second.stderr


def test_a_dry_run_prints_one_object_and_starts_nothing(place: Place) -> None:
    done = place.launch(str(place.write_job()), "--name", "job", "--dry-run", "--format", "json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert set(plan) == {
        *("platform", "algorithm", "job_name", "request", "before", "learning_rates"),
        *("findings", "cost"),
    }
    assert plan["before"] == []
    assert plan["learning_rates"]["global_batch_size"] == 4
    assert (plan["platform"], plan["algorithm"], plan["job_name"]) == ("local", "horovod", "job")
    assert plan["request"]["argv"][1:3] == ["-np", "2"]
    assert plan["findings"] == []
    assert plan["cost"]["currency"] == "USD"
    assert set(plan["cost"]) == {"currency", "per_hour", "maximum", "assumptions"}
    assert not place.log("job").root.exists()


def spoil_annotations(change: Callable[[dict[str, Any]], None]) -> Callable[[Place], None]:
    def spoil(place: Place) -> None:
        path = place.data / "annotations" / "instances_train2017.json"
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    return spoil


def not_json(place: Place) -> None:
    (place.data / "annotations" / "instances_train2017.json").write_text("{ not json")


def picture_missing(place: Place) -> None:
    next((place.data / "train2017").iterdir()).unlink()


def existing_log(place: Place) -> None:
    place.log("job").root.mkdir(parents=True)


def log_is_a_file(place: Place) -> None:
    root = place.log("job").root.parent
    root.parent.mkdir(parents=True, exist_ok=True)
    root.write_text("in the way")


def other_stack(place: Place) -> None:
    place.outputs_file.write_text(json.dumps({"NetworkStack": {"VpcId": "vpc-1"}}))


def output_missing(place: Place) -> None:
    document = json.loads(place.outputs_file.read_text())
    del document["StorageStack"]["EfsId"]
    place.outputs_file.write_text(json.dumps(document))


def no_fsx(place: Place) -> None:
    document = json.loads(place.outputs_file.read_text())
    outputs = document["StorageStack"]
    document["StorageStack"] = {k: v for k, v in outputs.items() if not k.startswith("Fsx")}
    place.outputs_file.write_text(json.dumps(document))


def no_outputs(place: Place) -> None:
    place.outputs_file.unlink()


def unmounted(place: Place) -> None:
    place.mount.rename(place.mount.with_name("fs-0abc"))


BAD_DATA = [
    (not_json, "not JSON"),
    (picture_missing, "train2017"),
    (
        spoil_annotations(lambda d: d["images"][0].update(width=65)),
        "64",
    ),
    (spoil_annotations(lambda d: d["annotations"][0].update(bbox=[1, 1, 0, 5])), "area"),
    (spoil_annotations(lambda d: d["annotations"][0].update(bbox=[70, 70, 20, 20])), "box-off"),
    (spoil_annotations(lambda d: (d["annotations"].clear(), d["images"].clear())), "empty"),
    (existing_log, "is there already"),
    (log_is_a_file, "cannot be made"),
    (unmounted, "fs-0ef5 is not mounted"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD_DATA)
def test_bad_data_and_folders_stop_the_launch_with_3(
    place: Place, spoil: Callable[[Place], None], message: str
) -> None:
    job = place.write_job()
    spoil(place)
    done = place.launch(str(job), "--name", "job", "--yes")
    assert done.returncode == 3, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not place.log("job").job.exists()


BAD_USE: list[tuple[Callable[[Place], None] | None, list[str], str]] = [
    (other_stack, [], "StorageStack is not there (stacks found: NetworkStack)"),
    (output_missing, [], "StorageStack has no output EfsId"),
    (no_outputs, [], "cannot be read (No such file or directory)"),
    (
        no_fsx,
        ["--data-source", "fsx"],
        "data_source: fsx: StorageStack has no FSx for Lustre file system: it was deployed with "
        "fsx = none",
    ),
    (None, ["--set", "hyperparameters.sede=1"], "did you mean seed?"),
    (None, ["--set", "hyperparameters.seed=one"], "hyperparameters.seed: "),
    (None, ["--set", "hyperparameters.mode_fpn=False"], "mobilenet keep mode_fpn True"),
    (None, ["--platform", "moon"], "'moon' is not one of 'local', 'sagemaker'"),
    (None, ["--platform", "sagemaker"], "NetworkStack is not there (stacks found: StorageStack)"),
    (None, ["--algorithm", "tensorpack"], "tensorpack has no schedule in epochs; give lr_schedule"),
    (None, ["--instance-type", "ml.p3.16xlarge"], "platform local runs on this machine"),
    (None, ["--instance-count", "2"], "platform local has one machine"),
    (None, ["--set", "limits"], "expected KEY=VALUE"),
]


@pytest.mark.parametrize(("spoil", "arguments", "message"), BAD_USE)
def test_wrong_use_stops_the_launch_with_2(
    place: Place, spoil: Callable[[Place], None] | None, arguments: list[str], message: str
) -> None:
    job = place.write_job()
    if spoil is not None:
        spoil(place)
    done = place.launch(str(job), "--name", "job", "--yes", *arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not place.log("job").root.exists()


def test_without_somebody_to_confirm_nothing_is_started(place: Place) -> None:
    done = place.launch(str(place.write_job()), "--name", "job")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert not place.log("job").root.exists()


def test_resume_needs_a_name(place: Place) -> None:
    done = place.launch(str(place.write_job()), "--resume", "--yes")
    assert done.returncode == 2
    assert "--resume: say which job goes on" in done.stderr


def test_no_local_aws_is_one_clear_error(tmp_path: Path) -> None:
    environ = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "us-east-1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "training.launch", "--dry-run"],
        env={**os.environ, **environ, "PYTHONPATH": str(PROJECT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 4
    assert "http://127.0.0.1:9" in done.stderr
    assert "python -m localaws start" in done.stderr
    assert "Traceback" not in done.stderr


def test_neither_help_nor_a_plan_imports_what_is_slow() -> None:
    script = (
        "import sys, training.launch, training.job, training.outputs, training.platforms.local\n"
        "import training.platforms.sagemaker.platform, training.platforms.ec2.platform\n"
        "from training import algorithms\n"
        "[algorithms.load(name) for name in algorithms.NAMES]\n"
        "print([m for m in ('boto3', 'botocore', 'torch', 'numpy', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
