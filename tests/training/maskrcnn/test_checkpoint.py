from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from training.errors import JobFailed
from training.layout import LogChannel, TrainChannel
from training.maskrcnn.checkpoint import CheckpointFolder, read_checkpoint

ROOT = Path(__file__).parents[3]


def state(value: float) -> dict[str, Any]:
    return {"model": {"weight": torch.full((1000,), value)}, "position": {"step": int(value)}}


def refuse(message: str) -> NoReturn:
    raise AssertionError(message)


def newest_step(folder: CheckpointFolder, warn: Callable[[str], Any] = refuse) -> int | None:
    newest = folder.load_newest(warn)
    if newest is None:
        return None
    step: int = newest["position"]["step"]
    assert torch.equal(newest["model"]["weight"], torch.full((1000,), float(step)))
    return step


def test_the_last_checkpoints_are_kept_and_the_newest_is_loaded(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "checkpoints", keep=2)
    assert newest_step(folder) is None
    for step in (9, 10, 11):
        folder.save(state(step), step=step)
    assert sorted(path.name for path in folder.folder.iterdir()) == [
        "step-00000010.pt",
        "step-00000010.pt.sha256",
        "step-00000011.pt",
        "step-00000011.pt.sha256",
    ]
    assert newest_step(folder) == 11


def test_a_new_checkpoint_stays_although_damaged_ones_of_later_steps_are_there(
    tmp_path: Path,
) -> None:
    folder = CheckpointFolder(tmp_path, keep=4)
    for step in (5, 900, 901, 902):
        folder.save(state(step), step=step)
        if step > 5:
            (tmp_path / f"step-{step:08}.pt").write_bytes(b"damaged")
    assert newest_step(folder, warn=lambda _message: None) == 5
    folder.save(state(7), step=7)
    assert newest_step(folder) == 7
    assert [path.name for path in sorted(tmp_path.glob("*.pt"))] == [
        "step-00000005.pt",
        "step-00000007.pt",
    ]


def test_a_run_does_not_begin_anew_over_checkpoints_that_cannot_be_read(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path, keep=2)
    for step in (1, 2):
        folder.save(state(step), step=step)
        (tmp_path / f"step-{step:08}.pt").write_bytes(b"damaged")
    with pytest.raises(JobFailed, match=r"none of 2 checkpoints.*step-00000001\.pt.*--log-dir"):
        folder.load_newest(lambda _message: None)


def test_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    path = CheckpointFolder(tmp_path, keep=1).save(state(1), step=1)
    checked = subprocess.run(
        ["sha256sum", "-c", f"{path.name}.sha256"], cwd=tmp_path, check=True, capture_output=True
    )
    assert checked.stdout == f"{path.name}: OK\n".encode()


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "no checksum"])
def test_a_damaged_checkpoint_is_passed_over_with_a_warning(tmp_path: Path, damage: str) -> None:
    folder = CheckpointFolder(tmp_path, keep=3)
    folder.save(state(1), step=1)
    path = folder.save(state(2), step=2)
    data = bytearray(path.read_bytes())
    match damage:
        case "cut":
            path.write_bytes(data[:-100])
        case "flipped":
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        case "empty":
            path.write_bytes(b"")
        case "no checksum":
            path.with_name(f"{path.name}.sha256").unlink()
    warnings: list[str] = []
    assert newest_step(folder, warnings.append) == 1
    (warning,) = warnings
    assert "step-00000002.pt" in warning
    assert "trying the one before it" in warning


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond a size: what a full disk does to a write, for this process alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path, keep=1)
    folder.save(state(1), step=1)
    with (
        largest_file(3000),
        pytest.raises(JobFailed, match=r"cannot be written .* step-00000001\.pt is still there"),
    ):
        folder.save(state(2), step=2)
    assert newest_step(folder) == 1
    assert not list(tmp_path.glob("*.tmp"))
    folder.save(state(3), step=3)
    assert newest_step(folder) == 3
    assert len(list(tmp_path.iterdir())) == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 12 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.root
def test_a_disk_that_fills_up_during_a_checkpoint_fails_the_job_and_keeps_the_one_before(
    shapes: TrainChannel, tiny: Any, small_disk: Path
) -> None:
    """aws/sagemaker-training-toolkit#204: the job was said to have succeeded."""
    log = LogChannel(small_disk / "log")
    hyperparameters = small_disk / "hyperparameters.json"
    # One checkpoint is 7 MiB, so that the second finds no room.
    hyperparameters.write_text(tiny(checkpoint_period=2).model_dump_json())
    arguments = ["--data", str(shapes.root), "--log-dir", str(log.root), "--engine", "torch"]
    arguments += ["--hyperparameters", str(hyperparameters)]
    command = [sys.executable, "-m", "training.maskrcnn.train", *arguments]
    failed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert failed.returncode == 1, failed.stderr
    assert "step-00000002.pt is still there" in failed.stderr
    assert "No space left on device" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert sorted(path.name for path in log.checkpoints.iterdir()) == [
        "step-00000002.pt",
        "step-00000002.pt.sha256",
    ]
    assert read_checkpoint(log.checkpoints / "step-00000002.pt")["position"]["step"] == 2
    # There may be no room for this message; the exit code is there in any case.
    if log.outcome.exists():
        assert json.loads(log.outcome.read_text())["status"] == "failed"


def test_a_checkpoint_is_written_and_read_without_a_copy_of_it_in_memory(tmp_path: Path) -> None:
    script = """
import resource, sys, torch
from pathlib import Path
from training.maskrcnn.checkpoint import CheckpointFolder
state = {"weight": torch.ones(64 * 2**20)}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
CheckpointFolder(Path(sys.argv[1]), keep=1).save(state, step=1)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    # The state itself has 256 MiB.
    assert float(done.stdout) < 64


class _Killer:
    """Kills this process, as SIGKILL would, at the n-th system call that changes files."""

    def __init__(self, at: int) -> None:
        self._left = at

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                os._exit(9)
            return call(*args, **kwargs)

        return counted


def _save_and_die(folder: CheckpointFolder, *, at: int) -> int:
    """Save a second checkpoint in a child that is killed at a point; return its exit code."""
    child = os.fork()
    if child == 0:
        killer = _Killer(at)
        os.fsync = killer.before(os.fsync)
        Path.open = killer.before(Path.open)  # type: ignore[method-assign]
        Path.replace = killer.before(Path.replace)  # type: ignore[method-assign]
        Path.unlink = killer.before(Path.unlink)  # type: ignore[method-assign]
        folder.save(state(2), step=2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_killed_at_any_point_of_a_save_a_whole_checkpoint_is_there(tmp_path: Path) -> None:
    found = []
    for at in range(40):
        folder = CheckpointFolder(tmp_path / str(at), keep=1)
        folder.save(state(1), step=1)
        code = _save_and_die(folder, at=at)
        found.append(newest_step(folder))
        # What the killed save left is cleared away by the next one.
        folder.save(state(3), step=3)
        assert len(list(folder.folder.iterdir())) == 2
        if code == 0:
            break
    else:
        raise AssertionError("the save never came to its end")
    assert len(found) > 8
    assert found == sorted(found)
    assert set(found) == {1, 2}
