"""Stamps are fresh only for the inputs that they were written for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolchain.errors import SetupError
from toolchain.files import Stamp, fingerprint, make_writable_folder


def test_stamp_is_fresh_until_an_input_changes_or_it_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "setup" / "stamp"
    stamp = Stamp(path, "inputs 1")
    assert not stamp.is_fresh()
    stamp.write()
    assert stamp.is_fresh()
    assert not Stamp(path, "inputs 2").is_fresh()
    assert [entry.name for entry in path.parent.iterdir()] == ["stamp"]
    stamp.remove()
    assert not stamp.is_fresh()


def test_fingerprint_follows_the_content_of_files_and_their_bounds(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("torch")
    before = fingerprint("3.11", file)
    assert fingerprint("3.11", file) == before
    file.write_text("torch2")
    assert fingerprint("3.11", file) != before
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


def test_folder_below_a_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match=r"file/cache: cannot be made \(Not a directory\). Do X"):
        make_writable_folder(tmp_path / "file" / "cache", "Do X")


def test_folder_that_may_not_be_written_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(SetupError, match=r"cache: not writable\. Do X"):
        make_writable_folder(tmp_path / "cache", "Do X")
