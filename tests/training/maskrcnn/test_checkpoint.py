from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from training.errors import JobFailed
from training.maskrcnn.checkpoint import CheckpointFolder


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
    folder = CheckpointFolder(tmp_path, keep=2)
    for step in (900, 901, 902):
        folder.save(state(step), step=step)
        (tmp_path / f"step-{step:08}.pt").write_bytes(b"damaged")
    assert newest_step(folder, warn=lambda _message: None) is None
    folder.save(state(7), step=7)
    assert newest_step(folder) == 7
    assert [path.name for path in sorted(tmp_path.glob("*.pt"))] == ["step-00000007.pt"]


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
