from __future__ import annotations

import os
from pathlib import Path

import pytest

from training.errors import JobFailed
from training.maskrcnn.files import write_atomically, write_result


def refuse(*_given: object) -> None:
    raise OSError(28, os.strerror(28))


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {"file": b"old"}


def test_a_result_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.pt"
    write_result(path, b"old")
    assert path.read_bytes() == b"old"
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(JobFailed) as failed:
        write_result(path, b"new")
    assert str(failed.value) == f"{path}: cannot be written (No space left on device)"
