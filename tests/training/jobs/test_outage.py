"""A job is followed through an outage of all of AWS."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import LocalAws, localaws
from tests.training.jobs.commands import Commands


@pytest.mark.soak
def test_every_line_is_shown_once_although_aws_was_gone_for_a_while(tmp_path: Path) -> None:
    localaws("start", "--port", "0", "--state-dir", tmp_path)
    env = json.loads(localaws("env", "--state-dir", tmp_path, "--format", "json").stdout)
    aws = LocalAws(env["AWS_ENDPOINT_URL"], env, tmp_path, Path(env["MASK_RCNN_MOUNTS"]))
    commands = Commands(aws)
    name = commands.make("long", hosts=2, seconds="40")
    with (tmp_path / "shown").open("w") as shown:
        watching = subprocess.Popen(
            [sys.executable, "-m", "training.jobs", "logs", "-f", name],
            env=commands.env,
            stdout=shown,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(15)
        localaws("stop", "--state-dir", tmp_path)
        time.sleep(5)
        localaws("start", "--port", aws.endpoint.rpartition(":")[2], "--state-dir", tmp_path)
        _, stderr = watching.communicate(timeout=240)
    localaws("stop", "--discard", "--state-dir", tmp_path)
    assert watching.returncode == 0
    assert "no good answer, trying again: " in stderr
    assert "there is an answer again" in stderr
    lines = (tmp_path / "shown").read_text().splitlines()
    for host in ("algo-1", "algo-2"):
        own = [line.removeprefix(f"[{host}] ") for line in lines if line.startswith(f"[{host}] ")]
        assert own[1:] == [f"line {number}" for number in range(1, 80)]
