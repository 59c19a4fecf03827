"""Mounts, with a file written, read and deleted."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from node.health import mounts
from node.health.mounts import WRITE_TEST, Mount, check_mount

INFO = (
    "22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
    "40 22 0:45 / {} rw,relatime shared:2 - nfs4 fs-1.efs.us-east-1.amazonaws.com:/ rw,vers=4.1\n"
)


def mount_info(folder: Path, mounted: str) -> Path:
    file = folder / "mountinfo"
    file.write_text(INFO.format(mounted.replace(" ", "\\040")))
    return file


def test_what_is_mounted_takes_a_file_and_keeps_none(tmp_path: Path) -> None:
    place = tmp_path / "a mount"
    place.mkdir()
    info = mount_info(tmp_path, str(place))
    check = check_mount(Mount("efs", str(place), str(place)), timeout_s=20, mount_info=info)
    assert (check.name, check.status) == ("efs", "ok")
    assert str(check.value).startswith("nfs4 ") and str(check.value).endswith(" ms")
    assert list(place.iterdir()) == []


def test_what_is_not_mounted_is_not_written_to(tmp_path: Path) -> None:
    info = mount_info(tmp_path, "/somewhere/else")
    check = check_mount(Mount("fsx", "/fsx", str(tmp_path)), timeout_s=5, mount_info=info)
    assert check.status == "failed"
    assert check.message.startswith("nothing is mounted at /fsx. See why: ")


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    info = mount_info(tmp_path, "/efs")
    check = check_mount(Mount("efs", "/efs", str(tmp_path / "gone")), timeout_s=20, mount_info=info)
    assert check.message == f"{tmp_path}/gone (nfs4) takes no file: No such file or directory"


def test_a_server_that_is_gone_is_told_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A pipe that nobody reads keeps its writer as a dead NFS server does.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    hanging = tmp_path / "write_test.py"
    hanging.write_text(f"open({str(pipe)!r}, 'wb')\n")
    monkeypatch.setattr(mounts, "WRITE_TEST", hanging)
    begin = time.monotonic()
    check = check_mount(
        Mount("efs", "/efs", "/efs"), timeout_s=0.5, mount_info=mount_info(tmp_path, "/efs")
    )
    assert time.monotonic() - begin < 20
    assert check.message.startswith("/efs (nfs4) did not take and give back a file within 0.5 s")


def test_a_folder_that_takes_no_file_says_so_without_a_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(WRITE_TEST), "/proc"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip() != "" and "Traceback" not in done.stderr
