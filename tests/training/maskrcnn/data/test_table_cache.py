from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from training.maskrcnn.data import table_cache
from training.maskrcnn.data.table import Table
from training.maskrcnn.data.table_builder import TableBuilder
from training.maskrcnn.data.table_cache import cached_table, places_of_tables

ROOT = Path(__file__).parents[4]


class Parser:
    """Makes tables, and counts how many."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Table:
        self.calls += 1
        builder = TableBuilder()
        builder.add_picture(self.calls, "1.jpg", (4, 3))
        return builder.build({}, ())


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_cache, "SMALL_BYTES", 0)


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    path = tmp_path / "instances_train2017.json"
    path.write_text("{}")
    return path


@pytest.fixture
def parser() -> Parser:
    return Parser()


def test_a_file_is_parsed_once(annotations: Path, tmp_path: Path, parser: Parser) -> None:
    folders = [tmp_path / "tables"]
    tables = [cached_table(annotations, parser, folders) for _ in range(3)]
    assert parser.calls == 1
    assert all(table.folder is not None for table in tables)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text("[]"),
        lambda path: path.write_text("longer"),
        lambda path: os.utime(path, (5, 5)),
        lambda path: (path.with_name("x").write_text("{}"), path.with_name("x").replace(path)),
    ],
)
def test_a_file_that_was_written_to_is_parsed_again(
    annotations: Path, tmp_path: Path, parser: Parser, change: Callable[[Path], None]
) -> None:
    folders = [tmp_path / "tables"]
    cached_table(annotations, parser, folders)
    change(annotations)
    assert cached_table(annotations, parser, folders).image_ids.tolist() == [2]
    assert len([path for path in folders[0].iterdir() if path.is_dir()]) == 1


def test_a_small_file_leaves_no_table(
    annotations: Path, tmp_path: Path, parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_cache, "SMALL_BYTES", 100)
    assert cached_table(annotations, parser, [tmp_path / "tables"]).folder is None
    assert not (tmp_path / "tables").exists()


def test_where_one_place_cannot_be_written_to_the_next_one_is_taken(
    annotations: Path, tmp_path: Path, parser: Parser
) -> None:
    # A file where a folder must be fails for root as well.
    (tmp_path / "taken").write_text("")
    folders = [tmp_path / "taken", tmp_path / "cache"]
    for _ in range(2):
        table = cached_table(annotations, parser, folders)
        assert table.folder is not None
        assert table.folder.parent == tmp_path / "cache"
    assert parser.calls == 1
    assert cached_table(annotations, parser, folders[:1]).folder is None


def test_a_damaged_table_is_made_anew(annotations: Path, tmp_path: Path, parser: Parser) -> None:
    folders = [tmp_path / "tables"]
    folder = cached_table(annotations, parser, folders).folder
    assert folder is not None
    (folder / "boxes.npy").write_bytes(b"")
    assert cached_table(annotations, parser, folders).image_ids.tolist() == [2]
    assert cached_table(annotations, parser, folders).image_ids.tolist() == [2]


def test_what_killed_runs_left_is_removed_after_an_hour(
    annotations: Path, tmp_path: Path, parser: Parser
) -> None:
    folders = [tmp_path / "tables"]
    table = cached_table(annotations, parser, folders)
    assert table.folder is not None
    base = table.folder.name.rpartition("-")[0]
    old, new = (folders[0] / f".{base}-{name}.x" for name in ("old", "new"))
    old.mkdir()
    new.mkdir()
    os.utime(old, (time.time() - 4000,) * 2)
    annotations.write_text("changed")
    cached_table(annotations, parser, folders)
    assert (old.exists(), new.exists()) == (False, True)


def test_many_ranks_at_once_parse_once(annotations: Path, tmp_path: Path) -> None:
    script = f"""
import pathlib, time
from training.maskrcnn.data import table_cache
from training.maskrcnn.data.table_builder import TableBuilder
table_cache.SMALL_BYTES = 0
def make():
    print("parsed", flush=True)
    time.sleep(0.5)
    builder = TableBuilder()
    builder.add_picture(7, "7.jpg", (4, 3))
    return builder.build({{}}, ())
path = pathlib.Path({str(annotations)!r})
table = table_cache.cached_table(path, make, [pathlib.Path({str(tmp_path / "tables")!r})])
assert table.image_ids.tolist() == [7] and table.folder
"""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    said = "".join(rank.communicate(timeout=60)[0] for rank in ranks)
    assert [rank.returncode for rank in ranks] == [0] * 4
    assert said == "parsed\n"


def test_a_folder_that_somebody_else_made_in_tmp_is_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = tmp_path / f"mask-rcnn-{os.getuid()}"
    assert places_of_tables(None)[0].parent == kept
    (tmp_path / "elsewhere").mkdir()
    kept.symlink_to(tmp_path / "elsewhere")
    assert kept not in [place.parent for place in places_of_tables(None)]


def test_a_relative_cache_folder_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """https://specifications.freedesktop.org/basedir-spec/latest/"""
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert all(place.is_absolute() for place in places_of_tables(None))
