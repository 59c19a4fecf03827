from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from training.data.folder import Folder
from training.data.manifest import Entry, Manifest
from training.data.side import ContentChanged
from training.errors import TrainingError, UsageError

NAMES = [
    "plain.jpg",
    "a b.jpg",
    "ü/日本.jpg",
    "plus+#%25&=.jpg",
    "quote'\".txt",
    ".hidden",
    "A",
    "a",
]


def write(root: Path, path: str, content: bytes) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)


def test_every_file_is_listed_by_its_path_and_size(tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        write(tmp_path, name, b"x" * number)
    files = Folder(tmp_path).files()
    assert {path: state.size for path, state in files.items()} == {
        name: number for number, name in enumerate(NAMES)
    }


def test_the_manifest_and_partial_files_are_no_data(tmp_path: Path) -> None:
    write(tmp_path, "data/manifest.json", b"{}")
    write(tmp_path, "manifest.json", b"{}")
    write(tmp_path, ".partial/half", b"")
    assert list(Folder(tmp_path).files()) == ["data/manifest.json"]


def test_linked_folders_and_files_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/train2017/a.jpg", b"a")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train2017").symlink_to(tmp_path / "elsewhere" / "train2017")
    (tmp_path / "set" / "b.jpg").symlink_to(tmp_path / "elsewhere" / "train2017" / "a.jpg")
    assert sorted(Folder(tmp_path / "set").files()) == ["b.jpg", "train2017/a.jpg"]


def test_a_link_back_to_a_folder_above_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a/b.jpg", b"")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="a/loop: a link leads back"):
        Folder(tmp_path).files()


def make_dangling_link(place: Path) -> None:
    place.symlink_to(place.parent / "nothing")


def make_link_to_itself(place: Path) -> None:
    place.symlink_to(place)


def make_pipe(place: Path) -> None:
    os.mkfifo(place)


def make_unreadable_name(place: Path) -> None:
    (place.parent / os.fsdecode(b"\xff.jpg")).write_bytes(b"")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (make_dangling_link, "a link to nothing"),
        (make_link_to_itself, "odd: a link to nothing"),
        (make_pipe, "neither a file nor a folder"),
        (make_unreadable_name, "not valid UTF-8"),
    ],
)
def test_what_cannot_be_copied_is_one_error_with_its_place(
    make: object, says: str, tmp_path: Path
) -> None:
    assert callable(make)
    make(tmp_path / "odd")
    with pytest.raises(UsageError, match=says):
        Folder(tmp_path).files()


@pytest.mark.parametrize("kind", ["absent", "file"])
def test_a_folder_that_is_none_is_a_usage_error(kind: str, tmp_path: Path) -> None:
    if kind == "file":
        (tmp_path / "x").write_bytes(b"")
    with pytest.raises(UsageError, match="there is no such folder"):
        Folder(tmp_path / "x").files()


@pytest.mark.parametrize("content", [b"other content", b"lengths", b""])
def test_a_file_that_changed_since_it_was_listed_is_not_read(
    content: bytes, tmp_path: Path
) -> None:
    write(tmp_path, "a", b"content")
    folder = Folder(tmp_path)
    state = folder.files()["a"]
    (tmp_path / "a").write_bytes(content)
    os.utime(tmp_path / "a", ns=(1, 1))
    with pytest.raises(ContentChanged, match="a: changed while it was copied"):
        list(folder.read("a", state))


def test_reading_goes_on_from_an_offset(tmp_path: Path) -> None:
    write(tmp_path, "a", b"0123456789")
    folder = Folder(tmp_path)
    assert b"".join(folder.read("a", folder.files()["a"], 7)) == b"789"


def test_partial_files_are_gone_after_a_copy_and_kept_after_a_failure(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(KeyError), folder.writing(print):
        writer = folder.writer("a", 1, "v")
        writer.write(b"x")
        writer.close()
        raise KeyError
    assert b"x" in {path.read_bytes() for path in (tmp_path / ".partial").iterdir()}
    with folder.writing(print):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_stands_under_its_name_only_when_it_is_committed(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with folder.writing(print):
        writer = folder.writer("a/b.jpg", 4, "v")
        writer.write(b"data")
        assert not (tmp_path / "a" / "b.jpg").exists()
        state = writer.commit()
    assert (tmp_path / "a" / "b.jpg").read_bytes() == b"data"
    assert folder.files() == {"a/b.jpg": state}


def test_a_link_that_leads_out_of_the_folder_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "train2017").symlink_to(tmp_path / "outside")
    folder = Folder(tmp_path / "in")
    with folder.writing(print), pytest.raises(UsageError, match="a link leads out of"):
        folder.writer("train2017/a.jpg", 1, "v")
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize(
    ("there", "wanted", "says"),
    [
        ("a", "a/b", "a file is where a folder must be"),
        ("a/b", "a", "a folder is where a file must be"),
    ],
)
def test_a_file_in_the_place_of_a_folder_is_refused_and_kept(
    there: str, wanted: str, says: str, tmp_path: Path
) -> None:
    write(tmp_path, there, b"mine")
    folder = Folder(tmp_path)
    with folder.writing(print), pytest.raises(UsageError, match=says):
        folder.writer(wanted, 0, "v").commit()
    assert (tmp_path / there).read_bytes() == b"mine"


def test_a_manifest_comes_back_from_the_folder(tmp_path: Path) -> None:
    manifest = Manifest.of([Entry(path="a", size=1, sha256="0" * 64)])
    folder = Folder(tmp_path)
    assert folder.read_manifest() is None
    with folder.writing(print):
        folder.write_manifest(manifest)
    assert folder.read_manifest() == manifest


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        pytest.raises(TrainingError, match="Permission denied"),
        Folder(tmp_path / "t").writing(print),
    ):
        pass


def two_folders(tmp_path: Path) -> tuple[Folder, Folder]:
    aside, target = tmp_path / "aside", tmp_path / "target"
    (aside / "a/b").mkdir(parents=True)
    (aside / "a/1").write_bytes(b"one")
    (aside / "a/b/2").write_bytes(b"two")
    target.mkdir()
    return Folder(aside), Folder(target)


def test_a_whole_folder_takes_its_name_in_one_step(tmp_path: Path) -> None:
    aside, target = two_folders(tmp_path)
    inode = (aside.root / "a").stat().st_ino
    assert target.adopt_folder(aside, "a", 2)
    assert (target.root / "a").stat().st_ino == inode
    assert (target.root / "a/b/2").read_bytes() == b"two"
    assert not (aside.root / "a").exists()


def test_a_folder_with_what_nobody_checked_does_not_take_its_name(tmp_path: Path) -> None:
    aside, target = two_folders(tmp_path)
    assert not target.adopt_folder(aside, "a", 1)
    assert (aside.root / "a/1").exists()
    assert not (target.root / "a").exists()


@pytest.mark.parametrize("is_link", [False, True], ids=["a folder", "a link to nothing"])
def test_a_folder_does_not_take_a_name_that_is_taken(is_link: bool, tmp_path: Path) -> None:
    aside, target = two_folders(tmp_path)
    place = target.root / "a"
    place.symlink_to(tmp_path / "gone") if is_link else place.mkdir()
    assert not target.adopt_folder(aside, "a", 2)
    assert (aside.root / "a/1").exists()
    assert not (tmp_path / "gone").exists()


def test_a_folder_is_not_adopted_through_a_link_that_leads_out(tmp_path: Path) -> None:
    aside, target = two_folders(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (target.root / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="leads out of"):
        target.adopt_folder(aside, "a/b", 1)
    assert not any((tmp_path / "elsewhere").iterdir())


def test_nothing_is_made_behind_a_link_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in/train2017").symlink_to(tmp_path / "outside")
    folder = Folder(tmp_path / "in")
    with folder.writing(print), pytest.raises(UsageError, match="a link leads out of"):
        folder.writer("train2017/deep/a.jpg", 1, "v")
    assert not any((tmp_path / "outside").iterdir())


def test_what_is_not_whole_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in/.partial").symlink_to(tmp_path / "outside")
    with (
        pytest.raises(UsageError, match=r"\.partial: a link leads out of"),
        Folder(tmp_path / "in").writing(print),
    ):
        pass
    assert not any((tmp_path / "outside").iterdir())


@pytest.mark.parametrize("code", [errno.ENOTEMPTY, errno.EXDEV])
def test_a_folder_that_cannot_take_its_name_as_a_whole_stays_aside(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside, target = two_folders(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "rename", refuse)
    assert not target.adopt_folder(aside, "a", 2)
    assert (aside.root / "a/1").exists()


def test_a_file_system_within_the_target_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside, target = two_folders(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UsageError, match="a/1: is on another file system than the folder"):
        target.adopt(aside, "a/1")


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_copy_that_fails_leaves_only_what_is_to_be_gone_on_with(
    is_begun: bool, tmp_path: Path
) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(ZeroDivisionError), folder.writing(print):
        if is_begun:
            folder.writer("a", 10, "v").close()
        raise ZeroDivisionError
    assert (tmp_path / ".partial").exists() is is_begun
