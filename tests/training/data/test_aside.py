from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from training.data import aside
from training.data.aside import folder_aside, require_free
from training.errors import JobFailed, UsageError


@pytest.mark.parametrize("is_there", [False, True])
def test_the_folder_takes_its_place_when_it_is_whole(is_there: bool, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    if is_there:
        out.mkdir(parents=True)
    with folder_aside(out, "--fix") as folder:
        (folder / "a").write_text("1")
        assert not (out / "a").exists()
    assert (out / "a").read_text() == "1"
    assert list(out.parent.iterdir()) == [out]


def test_what_a_killed_run_left_is_thrown_away(tmp_path: Path) -> None:
    left = tmp_path / ".out.partial"
    (left / "sub").mkdir(parents=True)
    (left / "old").write_text("1")
    with folder_aside(tmp_path / "out", "--fix") as folder:
        (folder / "new").write_text("1")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["new"]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), folder_aside(tmp_path / "out", "--fix") as folder:
        (folder / "a").write_text("1")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_says_that_nothing_is_left(tmp_path: Path) -> None:
    with (
        pytest.raises(JobFailed, match=r"--fix .*out: cannot be written \(No space left"),
        folder_aside(tmp_path / "out", "--fix"),
    ):
        # As shutil.copyfile raises it, of the file that it reads.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "source.jpg"))
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(JobFailed, match=r"cannot be written \(.*gone\.jpg: No such file"),
        folder_aside(tmp_path / "out", "--fix"),
    ):
        (tmp_path / "gone.jpg").read_bytes()


def test_two_runs_of_one_folder_do_not_mix(tmp_path: Path) -> None:
    with (
        folder_aside(tmp_path / "out", "--fix") as folder,
        pytest.raises(UsageError, match="another run is making it"),
        folder_aside(tmp_path / "out", "--fix"),
    ):
        pass
    assert not folder.exists()
    assert (tmp_path / "out").is_dir()


def test_a_folder_with_something_in_it_and_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    for out, says in ((tmp_path, "holds something"), (tmp_path / "file", "not a folder")):
        with pytest.raises(UsageError, match=says):
            require_free(out, "--fix")


def test_a_place_under_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    with (
        pytest.raises(UsageError, match=r"cannot be written|not a folder"),
        folder_aside(tmp_path / "file" / "out", "--fix"),
    ):
        pass


def test_all_is_on_the_disk_before_the_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []

    def note(folder: Path) -> None:
        synced.append((folder.name, (tmp_path / "out").exists()))

    monkeypatch.setattr(aside, "sync_file_system", note)
    monkeypatch.setattr(aside, "sync_folder", note)
    with folder_aside(tmp_path / "out", "--fix"):
        pass
    assert synced == [(".out.partial", False), (tmp_path.name, True)]


def test_a_file_system_without_locks_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with folder_aside(tmp_path / "out", "--fix") as folder:
        (folder / "a").write_text("1")
    assert (tmp_path / "out/a").read_text() == "1"
