"""What lfs may say, and files that change what they are listed as when they are fetched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.training.data.test_lustre import Counter, write
from training.data import lustre_preload
from training.data.folder import Folder
from training.data.lustre_preload import preload
from training.data.side import ContentChanged, FileState
from training.errors import JobFailed

only_root_asks_lfs = pytest.mark.skipif(os.geteuid() != 0, reason="only root may ask lfs")

RELEASED = 'for file; do echo "$file: (0x0000000d) released exists archived"; done'
UNREADABLE = """\
echo "$1: (0x00000009) exists archived, archive_id:1"
echo "Cannot get state of $2" >&2"""


class Reading(Folder):
    """Counts which files are read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read_paths: list[str] = []

    def read(self, path: str, state: FileState, offset: int = 0) -> Iterator[bytes]:
        self.read_paths.append(path)
        return super().read(path, state, offset)


@pytest.fixture
def folder(tmp_path: Path) -> Reading:
    return Reading(write(tmp_path / "fsx", a=b"one", b=b"three").root)


def false_lfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Make an lfs that takes every request and says what it is told to; return its log."""
    log, lfs = tmp_path / "log", tmp_path / "bin" / "lfs"
    lfs.parent.mkdir()
    lfs.write_text(
        f'#!/bin/sh\necho "$1" >> {log}\n[ "$1" = hsm_restore ] && exit\nshift\n{script}\n'
    )
    lfs.chmod(0o755)
    monkeypatch.setenv("PATH", f"{lfs.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(lustre_preload, "_POLL_S", 0.01)
    return log


@only_root_asks_lfs
@pytest.mark.parametrize("states", ["true", UNREADABLE, "echo nonsense", "exit 1"])
def test_files_whose_state_is_not_told_are_read(
    states: str, folder: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    false_lfs(tmp_path, monkeypatch, states)
    progress = Counter()
    preload(folder, folder.files(), jobs=1, progress=progress)
    assert (folder.read_paths, progress.total) == (["a", "b"], 8)


@only_root_asks_lfs
def test_where_nothing_is_fetched_the_wait_is_for_the_first_files_alone(
    folder: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = false_lfs(tmp_path, monkeypatch, RELEASED)
    monkeypatch.setattr(lustre_preload, "STALLED_S", 0.001)
    monkeypatch.setattr(lustre_preload, "BATCH_FILES", 1)
    preload(folder, folder.files(), jobs=1, progress=Counter())
    assert folder.read_paths == ["a", "b"]
    assert log.read_text().split().count("hsm_restore") == 1


@only_root_asks_lfs
def test_an_lfs_that_cannot_be_run_is_left_out(
    folder: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    false_lfs(tmp_path, monkeypatch, "").unlink(missing_ok=True)
    (tmp_path / "bin" / "lfs").write_bytes(b"\x7fELF of another machine")
    preload(folder, folder.files(), jobs=1, progress=Counter())
    assert folder.read_paths == ["a", "b"]


def test_a_file_that_is_listed_otherwise_once_it_is_fetched_is_read_again(
    folder: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    files = folder.files()
    fetched: set[str] = set()

    def read(path: str, state: FileState, offset: int = 0) -> Iterator[bytes]:
        for chunk in Folder.read(folder, path, state, offset):
            if path not in fetched:
                fetched.add(path)
                os.utime(folder.root / path, ns=(1, 1))
            yield chunk

    monkeypatch.setattr(folder, "read", read)
    progress = Counter()
    preload(folder, files, jobs=2, progress=progress)
    assert (fetched, progress.total) == ({"a", "b"}, 8)


def test_a_file_of_another_size_than_was_imported_is_an_error(
    folder: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    files = folder.files()
    (folder.root / "b").write_bytes(b"longer than before")
    with pytest.raises(ContentChanged, match="'b' changed while it was preloaded"):
        preload(folder, files, jobs=1, progress=Counter())


def test_a_file_that_went_is_an_error_with_its_name(
    folder: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    files = folder.files()
    (folder.root / "b").unlink()
    with pytest.raises(JobFailed, match="fsx/b: No such file"):
        preload(folder, files, jobs=1, progress=Counter())
