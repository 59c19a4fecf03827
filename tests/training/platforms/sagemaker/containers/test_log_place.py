"""Where checkpoints and report of a job in containers are, for the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.training.platforms.sagemaker.containers.small_job import request_body
from training.platforms.sagemaker.containers.folders import HostFolders
from training.platforms.sagemaker.containers.log_place import LogPlace
from training.platforms.sagemaker.containers.mounts import Mount

ON_S3 = request_body(InputDataConfig=[], CheckpointConfig={"S3Uri": "s3://b/out/log-one/"})


def write(file: Path, *, at_s: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x")
    os.utime(file, (at_s, at_s))


def mounted(folder: Path) -> LogPlace:
    channels = (Mount(folder / "in", "/in", writable=False), Mount(folder, "/log", writable=True))
    return LogPlace.of(request_body(), channels, [])


@pytest.mark.parametrize("name", ["step-00000010.pt", "attempt-2/model-10.index"])
def test_the_newest_whole_checkpoint_is_named(tmp_path: Path, name: str) -> None:
    saved = tmp_path / "checkpoints"
    write(saved / "step-00000009.pt", at_s=1)
    write(saved / name, at_s=2)
    write(saved / "step-00000011.pt.tmp", at_s=3)
    assert mounted(tmp_path).newest_checkpoint() == str(saved / name)


def test_where_none_is_whole_there_is_none(tmp_path: Path) -> None:
    assert mounted(tmp_path).newest_checkpoint() is None
    write(tmp_path / "checkpoints/step-00000011.pt.tmp", at_s=3)
    assert mounted(tmp_path).newest_checkpoint() is None


def test_on_s3_any_host_may_have_it_and_it_is_named_as_it_is_there(tmp_path: Path) -> None:
    hosts = [HostFolders(tmp_path / "algo-1"), HostFolders(tmp_path / "algo-2")]
    write(hosts[1].checkpoints / "checkpoints/step-00000010.pt", at_s=1)
    write(hosts[1].checkpoints / "report.html", at_s=1)
    place = LogPlace.of(ON_S3, (), hosts)
    assert place.address == "s3://b/out/log-one"
    assert place.newest_checkpoint() == "s3://b/out/log-one/checkpoints/step-00000010.pt"
    assert place.report() == "s3://b/out/log-one/report.html"


def test_a_report_is_named_where_there_is_one(tmp_path: Path) -> None:
    assert mounted(tmp_path).report() is None
    write(tmp_path / "report.html", at_s=1)
    assert mounted(tmp_path).report() == str(tmp_path / "report.html")
