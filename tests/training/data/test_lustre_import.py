"""When an import has arrived: names, sizes, and the manifest beside them."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.training.data.test_lustre import ID, LINK, FalseFsx, tasks_of, write
from training.data import lustre
from training.data.folder import Folder
from training.data.lustre import import_names
from training.data.lustre_link import Link
from training.data.lustre_task import Tasks
from training.data.manifest import MANIFEST, Entry, Manifest
from training.data.side import FileState
from training.errors import JobFailed


def manifest_of(**files: bytes) -> Manifest:
    return Manifest.of(
        Entry(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())
        for path, content in files.items()
    )


def leave(folder: Folder, manifest: Manifest) -> None:
    (folder.root / MANIFEST).write_bytes(manifest.to_bytes())


@pytest.mark.parametrize(("content", "arrives"), [(b"1", True), (b"2", False)])
def test_an_older_manifest_on_fsx_shows_that_a_change_has_not_arrived(
    content: bytes, arrives: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and sizes are the same: nothing else tells."""
    monkeypatch.setattr(lustre, "ARRIVAL_S", 0.0)
    folder = write(tmp_path / "fsx", a=b"1")
    leave(folder, manifest_of(a=b"1"))
    files, link = folder.files(), Link(ID, "", "s3://bucket", takes_import=False)
    wanted = manifest_of(a=content)

    def run() -> dict[str, FileState]:
        return import_names(
            tasks_of(FalseFsx()), link, "s3://bucket", files, folder, manifest=wanted
        )

    if arrives:
        assert run().keys() == {"a"}
        return
    with pytest.raises(JobFailed, match=r"'manifest.json' for example\. Linked by ImportPath"):
        run()


def test_an_older_manifest_is_waited_for(tmp_path: Path) -> None:
    folder, wanted = write(tmp_path / "fsx", a=b"1"), manifest_of(a=b"2")
    leave(folder, manifest_of(a=b"1"))

    def sleep(_: float) -> None:
        leave(folder, wanted)

    fsx: Any = FalseFsx()
    tasks, files = Tasks(fsx, ID, print, sleep=sleep), folder.files()
    assert import_names(tasks, LINK, "s3://bucket", files, folder, manifest=wanted).keys() == {"a"}


def test_a_folder_that_cannot_be_looked_at_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "fsx", a=b"1")
    files = folder.files()

    def stat(self: Path, **_: Any) -> os.stat_result:
        raise OSError(errno.ESTALE, "Stale file handle", str(self))

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(JobFailed, match="fsx: Stale file handle"):
        import_names(tasks_of(FalseFsx()), LINK, "s3://bucket", files, folder)


def test_files_may_take_long_as_long_as_more_of_them_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large set takes more than ten minutes to be followed or exported."""
    wanted = write(tmp_path / "s3", a=b"1", b=b"2", c=b"3").files()
    folder, clock = write(tmp_path / "fsx"), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def sleep(_: float) -> None:
        clock[0] += 0.9 * lustre.ARRIVAL_S
        write(folder.root, **{sorted(wanted.keys() - folder.files().keys())[0]: b"1"})

    fsx: Any = FalseFsx()
    tasks, link = Tasks(fsx, ID, print, sleep=sleep), Link(ID, "", "s3://b", takes_import=False)
    assert import_names(tasks, link, "s3://b", wanted, folder).keys() == {"a", "b", "c"}
