"""Who may write to a log channel. The others are processes of their own, as in a real run."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from training.layout import LogChannel
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.ownership import InUseError, Ownership

ROOT = Path(__file__).parents[3]

TAKES = """
import sys
from pathlib import Path
from training.layout import LogChannel
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.ownership import Ownership
ownership = Ownership(LogChannel(Path(sys.argv[1])))
try:
    ownership.take(TorchEngine(), goes_on=False)
    print("taken", flush=True)
except Exception as error:
    print(error, flush=True)
sys.stdin.read()
"""


@contextmanager
def another(root: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that tries to take the channel, and what it says."""
    process = subprocess.Popen(
        [sys.executable, "-c", TAKES, str(root)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def ownership(tmp_path: Path) -> Ownership:
    return Ownership(LogChannel(tmp_path))


def test_a_channel_has_one_owner_until_that_is_killed(ownership: Ownership, tmp_path: Path) -> None:
    with another(tmp_path) as (holder, said):
        assert said == "taken"
        with pytest.raises(InUseError) as refused:
            ownership.take(TorchEngine(), goes_on=False)
        assert str(refused.value) == f"{tmp_path} is in use: the job in it is still running"
        assert refused.value.exit_code == 2
        # Of an elastic job, whose old rank 0 may be on a host that is gone.
        ownership.take(TorchEngine(), goes_on=True)
        holder.kill()
        holder.wait()
        ownership.take(TorchEngine(), goes_on=False)


def test_it_is_kept_while_the_process_stays_rank_0_and_let_go_when_it_is_another(
    ownership: Ownership, tmp_path: Path
) -> None:
    for goes_on in (False, True):
        ownership.take(TorchEngine(), goes_on=goes_on)
        with another(tmp_path) as (_, said):
            assert said == f"{tmp_path} is in use: the job in it is still running"
    engine = TorchEngine()
    engine.rank = 1
    ownership.take(engine, goes_on=True)
    with another(tmp_path) as (_, said):
        assert said == "taken"


def test_a_process_that_the_rank_forked_does_not_hold_it(
    ownership: Ownership, tmp_path: Path
) -> None:
    ownership.take(TorchEngine(), goes_on=False)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(reads, 1)
        os._exit(0)
    ownership._release()
    with another(tmp_path) as (_, said):
        os.write(writes, b".")
        os.waitpid(child, 0)
        assert said == "taken"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_stops_nothing(
    number: int, ownership: Ownership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "lockf", failing(number))
    ownership.take(TorchEngine(), goes_on=False)


def failing(number: int) -> Callable[..., NoReturn]:
    def fail(*_given: Any) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail
