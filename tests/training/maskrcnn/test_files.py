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


def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_result(pipe, b"page")
        assert os.read(reader, 100) == b"page"
    finally:
        os.close(reader)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert pipe.is_fifo()


def test_where_a_link_leads_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there" / "file")
    for data in (b"first", b"second"):
        write_result(link, data)
        assert (link.is_symlink(), (tmp_path / "there" / "file").read_bytes()) == (True, data)
