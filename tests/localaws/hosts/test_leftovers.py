"""Hosts go away with their server, however it ends; and what a machine lacks is said."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
import pytest

from localaws.hosts import control_group, requirements
from tests.conftest import localaws, running_local_aws
from tests.localaws.hosts.conftest import Cloud
from tests.waiting import wait_for


def names(processes: Iterable[psutil.Process]) -> Iterator[str]:
    """Yield the names of those that have not ended meanwhile."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            yield process.name()


@pytest.mark.root
@pytest.mark.slow
def test_nothing_is_left_of_a_server_that_was_killed(tmp_path: Path) -> None:
    if lacking := requirements.missing():
        pytest.skip(lacking)
    top = requirements.control_groups()
    assert top is not None
    with running_local_aws(tmp_path / "aws", hosts=True) as aws:
        aws.client("iam").create_instance_profile(InstanceProfileName="node")
        (made,) = Cloud(aws, "node").launch()
        server = psutil.Process(json.loads((aws.state_dir / "server.json").read_text())["pid"])
        below = server.children(recursive=True)
        assert "systemd" in names(below)
        groups = f"mask-rcnn-localaws.{server.pid}."
        assert list(top.glob(f"{groups}*{made['InstanceId']}"))
        os.kill(server.pid, signal.SIGKILL)
        wait_for(lambda: not any(p.is_running() for p in below), "the end of all processes")
        wait_for(lambda: not server.is_running(), "the server's end")
        control_group.remove_leftovers()
        assert not list(top.glob(f"{groups}*"))


def test_start_says_what_the_machine_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ip").touch(mode=0o755)
    for name in ("dbus-daemon", "mount", "nsenter", "systemctl"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(requirements, "INIT", tmp_path / "systemd")
    says = requirements.missing()
    assert says is not None
    assert f"hosts need unshare, {tmp_path}/systemd:" in says
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "run as root" in (requirements.missing() or "")


def test_help_names_the_option() -> None:
    assert "--hosts" in localaws("start", "--help").stdout
