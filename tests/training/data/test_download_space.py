from __future__ import annotations

from pathlib import Path

import pytest

from training.data.download.space import Free, Room, free_at, needed_bytes, require_space
from training.errors import PreflightError

BLOCKS = 2048
"""Bytes that a file takes beyond its own, on average."""


def test_a_zip_and_what_is_unpacked_from_it_are_there_together() -> None:
    assert needed_bytes([Room(100, 120, 1)]) == 100 + 120 + BLOCKS


def test_zips_are_gone_before_the_next_one_comes() -> None:
    small, large = Room(10, 12), Room(100, 120)
    assert needed_bytes([small, large]) == 12 + 100 + 120
    assert needed_bytes([large, small]) == 100 + 120


def test_a_file_that_stays_as_it_is_counts_once() -> None:
    assert needed_bytes([Room(100, archive_stays=True), Room(50, archive_stays=True)]) == 150


def test_too_little_space_names_path_need_and_have() -> None:
    with pytest.raises(PreflightError, match=r"data: 2\.0 GB are needed.* and 1\.0 GB are free"):
        require_space(Path("data"), [Room(2 * 10**9, archive_stays=True)], Free(10**9, None))


def test_too_few_inodes_are_found() -> None:
    with pytest.raises(PreflightError, match=r"118,287 files are to be made, .* 100,000 more"):
        require_space(Path("data"), [Room(1, 1, 118_287)], Free(10**12, 100_000))


def test_space_is_asked_where_the_folder_will_be_made(tmp_path: Path) -> None:
    assert free_at(tmp_path / "not" / "yet").bytes > 0
