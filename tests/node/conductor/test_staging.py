"""A copy of data on the head: submitted, conducted and stopped as a job; what copies is real."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.node.conductor.bench import Bench
from tests.training.data.conftest import S3, s3, s3_url

__all__ = ["s3", "s3_url"]

STAGE = ["data", "stage", "--to", "efs", "--path", "set", "--format", "json"]


@pytest.fixture
def staging(bench: Bench, s3: S3) -> Bench:
    """A head whose environment has the real entry point and program, and a bucket with a set."""
    entrypoint = bench.folder / "home" / "entrypoint"
    entrypoint.unlink()
    entrypoint.symlink_to(ROOT / "docker" / "entrypoint")
    (bench.folder / "home" / "src").symlink_to(ROOT)
    bench.variables.update(s3.environ)
    for number in range(5):
        s3.client.put_object(Bucket=s3.bucket, Key=f"set/{number}.jpg", Body=os.urandom(2000))
    return bench


def request(bench: Bench, s3: S3, **changes: Any) -> dict[str, Any]:
    outputs = {
        "BucketName": s3.bucket,
        "EncryptionKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/1",
        "EfsId": "fs-1",
        "EfsSecurityGroupId": "sg-1",
        "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
    }
    return {
        "version": 1,
        "kind": "stage",
        "name": "copy",
        "fingerprint": "2" * 64,
        "image": None,
        "arguments": STAGE,
        "hyperparameters": {
            "outputs": json.dumps({"StorageStack": outputs}),
            "mounts": json.dumps({"fs-1": str(bench.efs)}),
            "region": "eu-west-1",
        },
        "log": str(folder(bench)),
        "max_run_s": 600,
        **changes,
    }


def folder(bench: Bench) -> Path:
    return bench.efs / "mask-rcnn" / "clusters" / "test" / "staging" / "copy"


def output(bench: Bench) -> str:
    return str(bench.ask("logs", {"name": "copy", "offset": 0})["text"])


def test_a_copy_runs_on_the_head_beside_a_job_and_takes_no_worker(staging: Bench, s3: S3) -> None:
    bench = staging
    bench.ask("submit", bench.request())  # A job that has the line.
    answer = bench.ask("submit", request(bench, s3))
    assert (answer["state"], answer["algorithm"]) == ("queued", "stage-data")
    bench.conduct("copy")
    bench.wait_for_end()
    ended = bench.status("copy")
    assert (ended["state"], ended["exit_code"]) == ("completed", 0), output(bench)
    assert bench.told() == [("copy", "started"), ("copy", "completed")]
    copied = sorted(path.name for path in (bench.efs / "set").glob("*.jpg"))
    assert copied == [f"{number}.jpg" for number in range(5)]
    assert '"copied_files": 5' in output(bench)
    assert bench.group()["desired"] == 0
    assert bench.status()["state"] == "queued"
    # The job does not wait for a copy either.
    other = bench.request(name="two", log=str(bench.efs / "log-two"), fingerprint="1" * 64)
    assert "job one is queued" in bench.ask("submit", other)["error"]["message"]
    assert not (bench.folder / "local" / "staging" / "copy").exists()


def test_two_copies_are_compared_on_the_head_and_a_difference_is_named(
    staging: Bench, s3: S3
) -> None:
    for name in ("copy", "compare"):
        compare = ["data", "verify", "s3:set", "efs:set", "--format", "json"]
        changes: dict[str, Any] = {} if name == "copy" else {"arguments": compare}
        log = str(folder(staging).with_name(name))
        staging.ask("submit", request(staging, s3, name=name, log=log, **changes))
        staging.conduct(name)
        staging.wait_for_end()
        if name == "copy":
            (staging.efs / "set" / "3.jpg").write_bytes(b"other")
    ended = staging.status("compare")
    # As here: 3, preflight found an error.
    assert (ended["state"], ended["exit_code"]) == ("failed", 3)
    assert "difference(s) between s3:set and efs:set" in ended["reason"]
    said = str(staging.ask("logs", {"name": "compare", "offset": 0})["text"])
    assert '"path": "3.jpg"' in said


def test_a_request_that_comes_twice_starts_one_copy(staging: Bench, s3: S3) -> None:
    staging.ask("submit", request(staging, s3))
    staging.ask("submit", request(staging, s3))
    assert len(staging.calls("systemctl")) == 1
    other = staging.ask("submit", request(staging, s3, fingerprint="3" * 64))
    assert other["error"]["kind"] == "usage"


def test_a_copy_that_fails_has_its_exit_code_and_words(staging: Bench, s3: S3) -> None:
    arguments = ["data", "stage", "--to", "fsx"]
    staging.ask("submit", request(staging, s3, arguments=arguments))
    staging.conduct("copy")
    staging.wait_for_end()
    ended = staging.status("copy")
    assert (ended["state"], ended["exit_code"]) == ("failed", 2)
    assert "StorageStack has no FSx for Lustre" in ended["reason"]


def test_a_copy_is_stopped_as_asked_and_one_that_was_killed_goes_on(staging: Bench, s3: S3) -> None:
    import fcntl

    held = staging.efs / "set" / ".partial"
    held.mkdir(parents=True)
    staging.ask("submit", request(staging, s3))
    with (held / "lock").open("w") as lock:
        # Another copy has the folder, so that this one waits.
        fcntl.flock(lock, fcntl.LOCK_EX)
        conductor = staging.conduct("copy")
        staging.wait(lambda: staging.status("copy")["state"] == "running")
        conductor.kill()
        conductor.wait()
        staging.conduct("copy")
        staging.wait(lambda: staging.status("copy")["restarts"] == 1)
        staging.wait(lambda: len(output(staging).split("runs data stage")) == 3)
        assert staging.ask("stop", {"name": "copy"})["state"] == "stopping"
        staging.wait_for_end()
    ended = staging.status("copy")
    assert (ended["state"], ended["exit_code"], ended["reason"]) == ("stopped", 143, "as asked")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arguments": ["train"]}, 'request: arguments: ["train"]; expected a list of "data"'),
        ({"arguments": []}, "request: arguments: []"),
        ({"kind": "stage", "more": 1}, "request: more: unknown"),
        ({"log": "/elsewhere/x"}, "request: log: /elsewhere/x; expected"),
        ({"max_run_s": 0}, "request: max_run_s: 0"),
    ],
)
def test_a_wrong_request_is_refused(bench: Bench, changes: dict[str, Any], words: str) -> None:
    document = request(bench, S3(None, "bucket", {}), **changes)
    error = bench.ask("submit", document)["error"]
    assert error["kind"] == "usage"
    assert words in error["message"]
    assert not folder(bench).exists()
