"""A whole run, on an engine that runs programs in place of containers."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws
from tests.training.platforms.sagemaker.containers.small_job import request_body
from tests.training.platforms.sagemaker.containers.stand_in import StandIn
from training.errors import JobCheckpointed, JobFailed, PreflightError
from training.platforms.sagemaker.containers import fleet, run
from training.platforms.sagemaker.containers.mark import new_mark

TRAINS = """
    lines = json.loads((ml('input/config') / 'resourceconfig.json').read_text())
    print(f'{host} of {len(lines["hosts"])}', flush=True)
    (ml('model') / 'model.pt').write_text('weights of ' + host)
    (ml('output') / 'data' / f'{host}.log').write_text('a line')
    (ml('input/data/log') / 'metrics.jsonl').write_text('{}')
    (ml('input/data/log') / 'report.html').write_text('a report')
    print('failed to connect to syslog: Initialization', flush=True)
"""

STOPS = """
    def stop(*_):
        (ml('input/data/log') / 'checkpoint').write_text('saved')
        sys.exit(75)
    signal.signal(signal.SIGTERM, stop)
    (ml('input/data/log') / f'started-{host}').touch()
    time.sleep(30)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_aws: LocalAws) -> Path:
    """A working directory on a machine that has the job's file system mounted."""
    (tmp_path / "mounts/fs-0ef50ef5/in").mkdir(parents=True)
    for name, value in local_aws.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASK_RCNN_MOUNTS", str(tmp_path / "mounts"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bucket(local_aws: LocalAws, request: pytest.FixtureRequest) -> str:
    name = f"containers-{abs(hash(request.node.name))}"
    local_aws.client("s3").create_bucket(Bucket=name)
    return name


def on(bucket: str, **changes: Any) -> dict[str, Any]:
    return request_body(OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out"}, **changes)


def keys(local_aws: LocalAws, bucket: str) -> list[str]:
    found = local_aws.client("s3").list_objects_v2(Bucket=bucket).get("Contents", [])
    return [entry["Key"] for entry in found]


def members(local_aws: LocalAws, bucket: str, key: str) -> dict[str, str]:
    data = local_aws.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = {member.name: archive.extractfile(member) for member in archive}
        return {name: file.read().decode() for name, file in files.items() if file}


def nothing_left(stand_in: StandIn, here: Path) -> bool:
    return stand_in.is_empty() and not [*(here / "runs/containers").iterdir()]


def test_all_hosts_train_and_what_they_leave_is_uploaded_in_one_archive(
    stand_in: StandIn,
    here: Path,
    bucket: str,
    local_aws: LocalAws,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stand_in.containers_do(TRAINS)
    run(on(bucket))
    shown = capsys.readouterr().err
    assert "algo-1 | algo-1 of 2\n" in shown
    assert "algo-2 | algo-2 of 2\n" in shown
    log = here / "mounts/fs-0ef50ef5/out/log-one"
    assert f"log: {log}\nreport: {log / 'report.html'}\n" in shown
    assert "syslog" not in shown
    place = "out/mask-rcnn-efs-one/output"
    assert keys(local_aws, bucket) == [f"{place}/model.tar.gz", f"{place}/output.tar.gz"]
    assert members(local_aws, bucket, f"{place}/model.tar.gz") == {"model.pt": "weights of algo-1"}
    assert members(local_aws, bucket, f"{place}/output.tar.gz") == {
        "algo-1.log": "a line",
        "algo-2.log": "a line",
    }
    assert (here / "mounts/fs-0ef50ef5/out/log-one/metrics.jsonl").exists()
    assert nothing_left(stand_in, here)


def test_tensorboards_events_go_where_sagemaker_puts_them(
    stand_in: StandIn, here: Path, bucket: str, local_aws: LocalAws
) -> None:
    stand_in.containers_do("""
        if host == 'algo-1':
            (ml('output') / 'tensorboard' / 'events.1').write_text('events')
    """)
    config = {"S3OutputPath": f"s3://{bucket}/out", "LocalPath": "/opt/ml/output/tensorboard"}
    run(on(bucket, TensorBoardOutputConfig=config))
    # No archive of nothing.
    assert keys(local_aws, bucket) == ["out/mask-rcnn-efs-one/tensorboard-output/events.1"]


def test_a_failure_of_one_host_ends_the_others_and_is_the_jobs_reason(
    stand_in: StandIn,
    here: Path,
    bucket: str,
    local_aws: LocalAws,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fleet, "PEER_GRACE_S", 0.5)
    stand_in.containers_do("""
        (ml('output') / 'data' / f'{host}.log').write_text('a line')
        (ml('model') / 'model.pt').write_text('half')
        if host == 'algo-2':
            (ml('output') / 'failure').write_text('rank 1 was killed by SIGKILL')
            sys.exit(1)
        time.sleep(60)
    """)
    with pytest.raises(JobFailed) as caught:
        run(on(bucket))
    assert str(caught.value) == "the job failed: algo-2: rank 1 was killed by SIGKILL"
    # What SageMaker keeps of a job that failed.
    assert keys(local_aws, bucket) == ["out/mask-rcnn-efs-one/output/output.tar.gz"]
    assert nothing_left(stand_in, here)


def test_the_time_limit_stops_all_with_a_checkpoint(
    stand_in: StandIn, here: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.containers_do(STOPS)
    log = here / "mounts/fs-0ef50ef5/out/log-one"

    class Clock:
        """Shows an hour later once both containers are at work."""

        @staticmethod
        def monotonic() -> float:
            return time.monotonic() + 3600 * (len([*log.glob("started-*")]) == 2)

    monkeypatch.setattr(fleet, "time", Clock)
    with pytest.raises(JobCheckpointed, match="by its time limit, with a checkpoint"):
        run(on(bucket, StoppingCondition={"MaxRuntimeInSeconds": 3000}))
    assert (log / "checkpoint").read_text() == "saved"
    stops = [words[words.index("stop") :] for words in stand_in.calls("stop")]
    assert [words[:3] for words in stops] == [["stop", "--time", "120"]] * 2
    assert nothing_left(stand_in, here)


def test_checkpoints_come_from_s3_and_go_there_and_deleted_ones_go(
    stand_in: StandIn, here: Path, bucket: str, local_aws: LocalAws
) -> None:
    s3 = local_aws.client("s3")
    for name in ("data/train/picture.jpg", "ckpt/log-one/step-1", "ckpt/log-one/deep/step-2"):
        s3.put_object(Bucket=bucket, Key=name, Body=name.encode())
    stand_in.containers_do("""
        saved = ml('checkpoints')
        assert (saved / 'deep/step-2').read_text() == 'ckpt/log-one/deep/step-2'
        assert (ml('input/data/train') / 'picture.jpg').exists()
        (saved / 'step-1').unlink()
        if host == 'algo-1':
            (saved / 'step-3').write_text('new')
    """)
    source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{bucket}/data/train/"}
    run(
        on(
            bucket,
            TrainingJobName="one-2026-01-02-03-04-05",
            InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
            CheckpointConfig={"S3Uri": f"s3://{bucket}/ckpt/log-one"},
        )
    )
    saved = [key for key in keys(local_aws, bucket) if key.startswith("ckpt")]
    assert saved == ["ckpt/log-one/deep/step-2", "ckpt/log-one/step-3"]


def test_going_on_from_nothing_makes_nothing(stand_in: StandIn, here: Path) -> None:
    again = request_body(TrainingJobName="mask-rcnn-efs-one-2026-01-02-03-04-05")
    with pytest.raises(PreflightError, match="log-one: there is nothing of a job of this name"):
        run(again)
    assert not (here / "mounts/fs-0ef50ef5/out").exists()


def test_an_image_that_is_not_here_is_refused_before_anything_is_made(
    stand_in: StandIn, here: Path
) -> None:
    algorithm = {"TrainingImage": "registry/image:2", "TrainingInputMode": "File"}
    with pytest.raises(PreflightError, match=r"python -m training\.images build"):
        run(request_body(AlgorithmSpecification=algorithm))
    assert stand_in.is_empty()


PROGRAM = """
import json, sys
from training.errors import TrainingError
from training.platforms.sagemaker.containers import fleet, run
from training.platforms.sagemaker.containers.mark import new_mark
try:
    run(json.loads(sys.argv[1]))
except TrainingError as error:
    sys.exit(f"{error.exit_code}: {error}")
"""


def start(body: dict[str, Any], here: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(body)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=here,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    until = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_launcher_stops_the_containers_with_a_checkpoint(
    number: int, stand_in: StandIn, here: Path, bucket: str
) -> None:
    stand_in.containers_do(STOPS)
    log = here / "mounts/fs-0ef50ef5/out/log-one"
    with start(on(bucket), here) as launcher:
        wait_for(lambda: len([*log.glob("started-*")]) == 2)
        launcher.send_signal(number)
        said = launcher.communicate(timeout=60)[1]
    assert "75: by a signal, with a checkpoint" in said
    assert (log / "checkpoint").exists()
    assert nothing_left(stand_in, here)


def test_a_second_signal_ends_at_once_and_the_last_checkpoint_is_named(
    stand_in: StandIn, here: Path, bucket: str
) -> None:
    stand_in.containers_do("""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        log = ml('input/data/log')
        (log / 'checkpoints').mkdir(exist_ok=True)
        (log / 'checkpoints' / 'step-00000010.pt').write_text('saved')
        (log / f'started-{host}').touch()
        time.sleep(60)
    """)
    log = here / "mounts/fs-0ef50ef5/out/log-one"
    with start(on(bucket), here) as launcher:
        wait_for(lambda: len([*log.glob("started-*")]) == 2)
        launcher.send_signal(signal.SIGINT)
        wait_for(lambda: len(stand_in.calls("stop")) >= 2)
        launcher.send_signal(signal.SIGTERM)
        said = launcher.communicate(timeout=60)[1]
    saved = log / "checkpoints/step-00000010.pt"
    assert f"75: by a signal, at once; the last checkpoint is {saved}; run the same" in said
    assert "with --resume --name one to go on" in said
    assert nothing_left(stand_in, here)


def test_a_launcher_that_is_killed_leaves_nothing_behind(
    stand_in: StandIn, here: Path, bucket: str
) -> None:
    stand_in.containers_do(STOPS)
    log = here / "mounts/fs-0ef50ef5/out/log-one"
    with start(on(bucket), here) as launcher:
        wait_for(lambda: len([*log.glob("started-*")]) == 2)
        launcher.kill()
    wait_for(lambda: nothing_left(stand_in, here))
    # They were asked first, and could save.
    assert (log / "checkpoint").exists()


def test_what_a_crash_has_left_goes_at_the_next_run(
    stand_in: StandIn, here: Path, bucket: str
) -> None:
    stand_in.containers_do(TRAINS)
    number, _, place, own = new_mark().text.split("-")
    dead = f"{number}-1-{place}-{own}"
    (here / f"runs/containers/{dead}/algo-1").mkdir(parents=True)
    stand_in.engine.ask("network", "create", "--label", "mask-rcnn.run", f"mask-rcnn-{dead}")
    run(on(bucket))
    assert nothing_left(stand_in, here)
