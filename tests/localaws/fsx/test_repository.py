"""Files that go between a folder and a bucket, whatever their names."""

from __future__ import annotations

import datetime
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from localaws import file_systems
from localaws.fsx.repository import Repository

TIME = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


class Object:
    """As much of an object of moto's as an import reads."""

    def __init__(self, value: bytes) -> None:
        self.value = value
        self.last_modified = TIME


@pytest.fixture
def linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setattr(file_systems, "_root", tmp_path / "mounts")
    file_systems.make("fs-1")
    return Repository.parse("fs-1", "/data", "s3://bucket/in/put")


def test_path_is_read_with_and_without_a_prefix() -> None:
    assert Repository.parse("fs-1", "/", "s3://bucket").prefix == ""
    assert Repository.parse("fs-1", "/", "s3://bucket/a/b/").prefix == "a/b/"
    with pytest.raises(ValueError, match="not of the form s3://bucket/prefix"):
        Repository.parse("fs-1", "/", "https://bucket/a")


def test_object_becomes_a_file_with_its_time(linked: Repository) -> None:
    linked.import_object("in/put/a/b.txt", Object(b"text"))  # type: ignore[arg-type]
    file = linked.folder / "a/b.txt"
    assert file.read_bytes() == b"text"
    assert file.stat().st_mtime == TIME.timestamp()
    assert [path.name for path in file.parent.iterdir()] == ["b.txt"]


@pytest.mark.parametrize(
    "key", ["in/put/../../x", "in/put//etc/x", "in/put/a/../x", "in/put/.", "in/put/a\0b"]
)
def test_key_that_names_no_file_below_the_folder_is_refused(linked: Repository, key: str) -> None:
    with pytest.raises(ValueError, match="is no path of a file"):
        linked.import_object(key, Object(b"evil"))  # type: ignore[arg-type]


def test_link_that_leads_out_of_the_file_system_is_not_followed(
    linked: Repository, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    linked.folder.mkdir()
    (linked.folder / "way").symlink_to(outside)
    with pytest.raises(ValueError, match="leads out of the file system"):
        linked.import_object("in/put/way/x", Object(b"evil"))  # type: ignore[arg-type]
    assert list(outside.iterdir()) == []


@settings(deadline=None)
@given(st.text(max_size=12))
@example("../../../x")
@example("/x")
def test_no_key_writes_outside_the_folder(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    root = tmp_path_factory.mktemp("keys")
    file_systems.use(root / "mounts")
    linked = Repository.parse("fs-1", "/data", "s3://bucket")
    with suppress(ValueError, OSError):
        linked.import_object(name, Object(b"x"))  # type: ignore[arg-type]
    written = [path for path in root.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(linked.folder) for path in written)


def test_folders_and_links_are_left_out_of_an_export(linked: Repository, tmp_path: Path) -> None:
    (linked.folder / "a").mkdir(parents=True)
    (linked.folder / "a/file").write_bytes(b"x")
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    (linked.folder / "link").symlink_to(secret)
    assert [key for key, _ in linked.files()] == ["in/put/a/file"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("/data", "/data", True),
        ("/data", "/", True),
        ("/data", "/data/a", True),
        ("/a", "/ab", False),
    ],
)
def test_overlap_goes_by_whole_folders(one: str, other: str, expected: bool) -> None:
    first = Repository("fs-1", one, "bucket", "")
    assert first.overlaps(Repository("fs-1", other, "bucket", "")) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("s3://bucket/in", "s3://bucket/in/", True),
        ("s3://bucket/in", "s3://bucket", True),
        ("s3://bucket/in", "s3://bucket/in/sub", True),
        ("s3://bucket/in", "s3://bucket/into", False),
        ("s3://bucket/in", "s3://other/in", False),
    ],
)
def test_objects_are_shared_by_whole_prefixes(one: str, other: str, expected: bool) -> None:
    first, second = (Repository.parse("fs-1", "/data", path) for path in (one, other))
    assert first.shares_objects_with(second) is expected
    assert second.shares_objects_with(first) is expected
