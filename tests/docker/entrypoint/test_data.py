"""The command that copies data inside the VPC: the real program, on folders, against a local S3."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.training.data.conftest import S3, s3, s3_url

__all__ = ["s3", "s3_url"]

FILES = {"annotations/a.json": b"{}", "train2017/1.jpg": b"one" * 900, "train2017/2 ü.jpg": b"two"}
EFS = "fs-0ef5"


@pytest.fixture
def ml(tmp_path: Path, s3: S3) -> Path:
    """What a container finds below /opt/ml, and its file system."""
    for key, content in FILES.items():
        s3.client.put_object(Bucket=s3.bucket, Key=f"data/{key}", Body=content)
    (tmp_path / "efs").mkdir()
    outputs = {
        "BucketName": s3.bucket,
        "EncryptionKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/1",
        "EfsId": EFS,
        "EfsSecurityGroupId": "sg-1",
        "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
    }
    told = {
        "outputs": json.dumps({"StorageStack": outputs}),
        "mounts": json.dumps({EFS: str(tmp_path / "efs")}),
        "region": "eu-west-1",
    }
    write_told(tmp_path, told)
    return tmp_path


def write_told(ml: Path, told: dict[str, str]) -> None:
    config = ml / "input" / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "hyperparameters.json").write_text(json.dumps(told))


def start(ml: Path, environ: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    without_region = {key: value for key, value in environ.items() if "REGION" not in key}
    return subprocess.Popen(
        [sys.executable, str(ROOT / "docker" / "entrypoint"), "data", *arguments],
        env={
            **{"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(ml)},
            **{"MASK_RCNN_ML_ROOT": str(ml), **without_region},
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(ml: Path, environ: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    process = start(ml, environ, *arguments)
    said, log = process.communicate(timeout=60)
    return process.returncode, said, log


def result(said: str) -> dict[str, Any]:
    (line,) = said.splitlines()
    found: dict[str, Any] = json.loads(line.removeprefix("mask-rcnn-result: "))
    return found


def test_a_set_comes_to_the_file_system_and_the_result_is_one_line(ml: Path, s3: S3) -> None:
    stage = ("stage", "--to", "efs", "--path", "data", "--format", "json")
    code, said, log = run(ml, s3.environ, *stage)
    assert code == 0, log
    assert result(said)["copied_files"] == len(FILES)
    for path, content in FILES.items():
        assert (ml / "efs" / "data" / path).read_bytes() == content
    assert (ml / "efs" / "data" / "manifest.json").is_file()
    # The second run finds everything; nothing of the command's own is left in the container.
    assert result(run(ml, s3.environ, *stage)[1])["copied_files"] == 0
    assert sorted(path.name for path in ml.iterdir()) == ["efs", "input"]


def test_two_copies_are_compared_where_the_file_system_is(ml: Path, s3: S3) -> None:
    assert run(ml, s3.environ, "stage", "--to", "efs", "--path", "data")[0] == 0
    compare = ("verify", "s3:data", "efs:data", "--format", "json")
    code, said, _ = run(ml, s3.environ, *compare)
    assert (code, said) == (0, "mask-rcnn-result: []\n")
    (ml / "efs" / "data" / "train2017" / "1.jpg").write_bytes(b"other")
    code, said, _ = run(ml, s3.environ, *compare)
    assert code == 3
    found = json.loads(said.removeprefix("mask-rcnn-result: "))
    assert {each["path"] for each in found} == {"train2017/1.jpg"}


def test_a_failure_has_the_commands_own_exit_code_and_words(ml: Path, s3: S3) -> None:
    code, said, log = run(ml, s3.environ, "stage", "--to", "fsx", "--path", "data")
    assert (code, said) == (2, "")
    reason = (ml / "output" / "failure").read_text()
    assert "StorageStack has no FSx for Lustre file system" in reason
    assert reason in log


def test_a_file_system_that_is_not_mounted_is_named(ml: Path, s3: S3) -> None:
    write_told(ml, {"mounts": json.dumps({EFS: "/nowhere/efs"})})
    code, _, log = run(ml, s3.environ, "stage", "--to", "efs")
    assert code == 1
    assert f"/nowhere/efs: file system {EFS} is not mounted there" in log


def test_sigterm_ends_it_as_ctrl_c_and_leaves_no_half_file(ml: Path, s3: S3) -> None:
    # A folder that another copy holds: this one waits for it.
    import fcntl

    held = ml / "efs" / "data" / ".partial"
    held.mkdir(parents=True)
    with (held / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = start(ml, s3.environ, "stage", "--to", "efs", "--path", "data")
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 130
    assert not (ml / "efs" / "data" / "manifest.json").exists()
