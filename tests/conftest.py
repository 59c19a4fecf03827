"""Fixtures that tests of several parts share."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]

# A loaded machine is no fault of the code: nothing is judged by the time that it takes.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# Whoever is started in the background (`make test &`) ignores SIGINT, and so does all that they
# start: commands that tests interrupt would never hear of it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class LocalAws:
    """A local AWS that runs."""

    endpoint: str
    env: dict[str, str]
    """The variables that `python -m localaws env` prints."""
    state_dir: Path
    mounts: Path
    """One folder for each file system, named by its id."""

    def session(self) -> boto3.Session:
        return boto3.Session(
            aws_access_key_id=self.env["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.env["AWS_SECRET_ACCESS_KEY"],
            region_name=self.env["AWS_REGION"],
        )

    def client(self, service: str) -> Any:
        return self.session().client(  # type: ignore[call-overload]
            service, endpoint_url=self.endpoint, config=Config(retries={"max_attempts": 0})
        )

    def process_env(self) -> dict[str, str]:
        """Return the environment for a process that is to use it."""
        foreign = ("AWS_", "CDK_")
        own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return own | self.env


def localaws(*arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run `python -m localaws`."""
    return subprocess.run(
        [sys.executable, "-m", "localaws", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=check,
    )


@contextmanager
def running_local_aws(state_dir: Path) -> Iterator[LocalAws]:
    """Start a local AWS on a free port; stop it in the end, and keep its state."""
    localaws("start", "--port", "0", "--state-dir", state_dir)
    try:
        env = json.loads(localaws("env", "--state-dir", state_dir, "--format", "json").stdout)
        mounts = Path(env["MASK_RCNN_MOUNTS"])
        yield LocalAws(env["AWS_ENDPOINT_URL"], env, state_dir, mounts)
    finally:
        localaws("stop", "--state-dir", state_dir)


@pytest.fixture(scope="session")
def local_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """A local AWS for the whole session: make your own resources, and expect those of others."""
    with running_local_aws(tmp_path_factory.mktemp("local-aws")) as running:
        yield running
