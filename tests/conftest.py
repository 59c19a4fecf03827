"""Fixtures that tests of several parts share."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
import pytest
from botocore.config import Config
from hypothesis import HealthCheck, settings

from localaws import process
from localaws.environment import DEFAULT_REGION, variables
from localaws.folders import StateDirectory
from tests.docker.containers.fixtures import podman, podman_of_session
from tests.order import WholeFiles, put_longest_first

# Fixtures of several folders, which would be one for each of them if each imported them.
__all__ = ["podman", "podman_of_session"]

ROOT = Path(__file__).parents[1]

# A loaded machine is no fault of the code: nothing is judged by the time that it takes.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# jsonschema would load it, which takes seconds; test_sbom.py has its formats checked elsewhere.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Ten thousand tests and all that they import are no garbage: looking through them takes a third of
# the time of collecting them.
gc.disable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WholeFiles:
    return WholeFiles(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        put_longest_first(items)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


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
def running_local_aws(state_dir: Path, *, hosts: bool = False) -> Iterator[LocalAws]:
    """Start a local AWS on a free port; stop it in the end, and keep its state.

    By what the commands call: each of them is a second of Python's.
    """
    directory = StateDirectory(state_dir.absolute())
    server = process.start(directory, 0, hosts=hosts)
    # Commands wait for its end, which it reaches once its parent has taken note.
    Thread(target=_take_note_of_the_end, args=(server.pid,), daemon=True).start()
    try:
        env = dict(variables(server.endpoint, directory.file_systems, DEFAULT_REGION))
        yield LocalAws(server.endpoint, env, state_dir, Path(env["MASK_RCNN_MOUNTS"]))
    finally:
        process.stop(directory)


def _take_note_of_the_end(pid: int) -> None:
    with suppress(ChildProcessError):  # somebody else has
        os.waitpid(pid, 0)


@pytest.fixture(scope="session", autouse=True)
def _own_record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep jobs that tests launch out of the record of whoever runs them (training/jobs/record)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def local_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """A local AWS for the whole session: make your own resources, and expect those of others."""
    with running_local_aws(tmp_path_factory.mktemp("local-aws")) as running:
        yield running
