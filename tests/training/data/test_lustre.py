from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.training.data.conftest import S3
from training.data import lustre, lustre_preload
from training.data.bucket import Bucket
from training.data.folder import Folder
from training.data.lustre import export, import_names
from training.data.lustre_link import Link, find_link
from training.data.lustre_preload import preload
from training.data.lustre_task import Tasks
from training.data.places import LustrePlace
from training.data.side import ContentChanged
from training.data.stage import Manner, list_source
from training.errors import AwsError, JobFailed

ID = "fs-0123456789abcdef0"
ASSOCIATION = {"FileSystemPath": "/data", "DataRepositoryPath": "s3://bucket/ml/"}


def exports(*events: str) -> dict[str, Any]:
    """What an association says that exports by itself."""
    return {"S3": {"AutoExportPolicy": {"Events": list(events)}}}


class FalseFsx:
    """Records requests and answers what it is told to."""

    def __init__(
        self,
        *,
        associations: list[dict[str, Any]] | None = None,
        import_path: str | None = None,
        export_path: str = "",
        lives: list[dict[str, Any]] | None = None,
        refusals: list[str] | None = None,
        file_system_id: str = ID,
    ) -> None:
        self._id = file_system_id
        self.created: list[dict[str, Any]] = []
        self._associations = associations or []
        self._repository = {"ImportPath": import_path, "ExportPath": export_path}
        self._lives = lives or [{"Lifecycle": "SUCCEEDED"}]
        self._refusals = refusals or []

    def describe_data_repository_associations(self, **request: Any) -> dict[str, Any]:
        assert request["Filters"] == [{"Name": "file-system-id", "Values": [self._id]}]
        page = int(request.get("NextToken", 0))
        answer: dict[str, Any] = {"Associations": self._associations[page : page + 1]}
        if page + 1 < len(self._associations):
            answer["NextToken"] = str(page + 1)
        return answer

    def describe_file_systems(self, **request: Any) -> dict[str, Any]:
        assert request == {"FileSystemIds": [self._id]}
        repository = self._repository if self._repository["ImportPath"] else {}
        return {
            "FileSystems": [{"LustreConfiguration": {"DataRepositoryConfiguration": repository}}]
        }

    def create_data_repository_task(self, **request: Any) -> dict[str, Any]:
        if self._refusals:
            code = self._refusals.pop(0)
            raise ClientError(
                {"Error": {"Code": code, "Message": "no"}}, "CreateDataRepositoryTask"
            )
        self.created.append(request)
        return {"DataRepositoryTask": {"TaskId": "task-1"}}

    def describe_data_repository_tasks(self, **request: Any) -> dict[str, Any]:
        assert request == {"TaskIds": ["task-1"]}
        return {"DataRepositoryTasks": [self._lives.pop(0)]}


def tasks_of(fsx: FalseFsx) -> Tasks:
    return Tasks(fsx, ID, print, sleep=lambda _: None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fsx", "address", "folder", "expected"),
    [
        (
            FalseFsx(associations=[{"FileSystemPath": "/other"}, ASSOCIATION]),
            "s3://bucket/ml/train",
            "data/train",
            Link(ID, "data", "s3://bucket/ml", takes_import=True),
        ),
        (
            FalseFsx(associations=[ASSOCIATION | exports("NEW", "CHANGED", "DELETED")]),
            "s3://bucket/ml/train",
            "data/train",
            Link(
                ID,
                "data",
                "s3://bucket/ml",
                takes_import=True,
                exports_by_itself=True,
                deletes_by_itself=True,
            ),
        ),
        (
            FalseFsx(associations=[ASSOCIATION | exports("NEW")]),
            "s3://bucket/ml/train",
            "data/train",
            Link(ID, "data", "s3://bucket/ml", takes_import=True),
        ),
        (
            FalseFsx(import_path="s3://bucket/ml/", export_path="s3://bucket"),
            "s3://bucket/ml/train",
            "ml/train",
            Link(ID, "ml", "s3://bucket/ml", takes_import=False),
        ),
        (
            FalseFsx(import_path="s3://bucket/ml", export_path="s3://bucket/FSxLustre20260102"),
            "s3://bucket/ml/train",
            "ml/train",
            Link(ID, "ml", "s3://bucket/ml", takes_import=False, takes_export=False),
        ),
        (
            FalseFsx(import_path="s3://bucket", export_path="s3://bucket"),
            "s3://bucket/train",
            "train",
            Link(ID, "", "s3://bucket", takes_import=False),
        ),
        (FalseFsx(associations=[ASSOCIATION]), "s3://bucket/ml/train", "data/val", None),
        (FalseFsx(associations=[ASSOCIATION]), "s3://bucket/mlx/train", "data/train", None),
        (FalseFsx(associations=[ASSOCIATION]), "s3://others/ml/train", "data/train", None),
        (FalseFsx(), "s3://bucket/train", "train", None),
    ],
)
def test_a_link_is_found_where_folder_and_address_are_the_same_data(
    fsx: Any, address: str, folder: str, expected: Link | None
) -> None:
    assert find_link(fsx, ID, address, folder) == expected


def test_a_task_is_created_exactly_and_waited_for() -> None:
    fsx = FalseFsx(lives=[{"Lifecycle": "PENDING"}, {"Lifecycle": "SUCCEEDED"}])
    tasks_of(fsx).run("RELEASE_DATA_FROM_FILESYSTEM", "data/train")
    assert fsx.created == [
        {
            "FileSystemId": ID,
            "Type": "RELEASE_DATA_FROM_FILESYSTEM",
            "Paths": ["data/train"],
            "Report": {"Enabled": False},
            "ReleaseConfiguration": {"DurationSinceLastAccess": {"Unit": "DAYS", "Value": 0}},
        }
    ]


def test_a_task_that_fails_says_what_fsx_says() -> None:
    failed = {
        "Lifecycle": "FAILED",
        "Status": {"TotalCount": 5, "SucceededCount": 3, "FailedCount": 2},
        "FailureDetails": {"Message": "no permission"},
    }
    with pytest.raises(
        JobFailed, match=r"failed \(5 total, 3 succeeded, 2 failed\); no permission"
    ):
        tasks_of(FalseFsx(lives=[failed])).run("EXPORT_TO_REPOSITORY", "data")


def test_another_task_is_waited_for_and_another_refusal_is_not() -> None:
    fsx = FalseFsx(refusals=["DataRepositoryTaskExecuting"] * 2)
    tasks_of(fsx).run("EXPORT_TO_REPOSITORY", "data")
    assert len(fsx.created) == 1
    with pytest.raises(AwsError, match="AccessDenied"):
        tasks_of(FalseFsx(refusals=["AccessDenied"])).run("EXPORT_TO_REPOSITORY", "data")


def write(root: Path, **files: bytes) -> Folder:
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (root / name).write_bytes(content)
    return Folder(root)


LINK = Link(ID, "data", "s3://bucket", takes_import=True)


def test_an_import_ends_when_all_names_are_there(tmp_path: Path) -> None:
    wanted = write(tmp_path / "s3", a=b"1", b=b"22").files()
    fsx, folder = FalseFsx(), write(tmp_path / "fsx", a=b"1", b=b"22", more=b"")
    there = import_names(tasks_of(fsx), LINK, "s3://bucket/train", wanted, folder)
    assert there.keys() == {"a", "b", "more"}
    (request,) = fsx.created
    assert (request["Type"], request["Paths"]) == (
        "IMPORT_METADATA_FROM_REPOSITORY",
        ["s3://bucket/train"],
    )


def test_names_that_do_not_arrive_are_an_error_with_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lustre, "ARRIVAL_S", 0.0)
    wanted = write(tmp_path / "s3", a=b"1", b=b"22").files()
    folder = write(tmp_path / "fsx", a=b"1", b=b"2")
    with pytest.raises(JobFailed, match=r"1 of 2 files of S3 have not arrived, 'b' for example"):
        import_names(tasks_of(FalseFsx()), LINK, "s3://bucket/train", wanted, folder)


def test_a_file_system_with_import_path_gets_no_import_task(tmp_path: Path) -> None:
    fsx, folder = FalseFsx(), write(tmp_path / "fsx", a=b"1")
    link = Link(ID, "", "s3://bucket", takes_import=False)
    import_names(tasks_of(fsx), link, "s3://bucket/train", folder.files(), folder)
    assert fsx.created == []


def test_an_export_is_compared_and_leaves_the_manifest(tmp_path: Path, s3: S3) -> None:
    folder = write(tmp_path / "fsx", a=b"one", b=b"two")
    for name in ("a", "b", "older"):
        content = (folder.root / name).read_bytes() if name != "older" else b""
        s3.client.put_object(Bucket=s3.bucket, Key=f"train/{name}", Body=content)
    bucket = Bucket(s3.client, s3.bucket, "train")
    fsx, place = FalseFsx(), LustrePlace(ID, "data/train", folder)
    exported = export(
        tasks_of(fsx), LINK, place, bucket, list_source(folder), manner=Manner(jobs=2)
    )
    assert fsx.created[0]["Paths"] == ["data/train"]
    assert exported.extra_files == 1
    manifest = bucket.read_manifest()
    assert manifest == exported.manifest
    assert {entry.path: entry.sha256 for entry in manifest.files} == {
        "a": hashlib.sha256(b"one").hexdigest(),
        "b": hashlib.sha256(b"two").hexdigest(),
    }


@pytest.mark.parametrize(("content", "says"), [(b"oNe", "another content"), (b"x", "another size")])
def test_an_export_that_is_not_what_the_folder_holds_is_an_error(
    content: bytes, says: str, tmp_path: Path, s3: S3
) -> None:
    folder = write(tmp_path / "fsx", a=b"one")
    s3.client.put_object(Bucket=s3.bucket, Key="train/a", Body=content)
    bucket = Bucket(s3.client, s3.bucket, "train")
    place = LustrePlace(ID, "data/train", folder)
    with pytest.raises(ContentChanged, match=says):
        export(
            tasks_of(FalseFsx()),
            LINK,
            place,
            bucket,
            list_source(folder),
            manner=Manner(jobs=2),
        )
    assert bucket.read_manifest() is None


BY_ITSELF = Link(ID, "data", "s3://bucket", takes_import=True, exports_by_itself=True)


def test_what_fsx_exports_by_itself_is_waited_for_where_it_takes_no_task(
    tmp_path: Path, s3: S3
) -> None:
    folder = write(tmp_path / "fsx", a=b"one")
    bucket = Bucket(s3.client, s3.bucket, "train")
    told: list[str] = []

    def sleep(_: float) -> None:
        s3.client.put_object(Bucket=s3.bucket, Key="train/a", Body=b"one")

    fsx: Any = FalseFsx(refusals=["BadRequest"])
    tasks = Tasks(fsx, ID, told.append, sleep=sleep)
    place, files = LustrePlace(ID, "data/train", folder), list_source(folder)
    exported = export(tasks, BY_ITSELF, place, bucket, files, manner=Manner(jobs=2))
    assert [entry.path for entry in exported.manifest.files] == ["a"]
    assert told == [f"{ID}: takes no export now (BadRequest): it exports itself"]


@pytest.mark.parametrize(
    ("link", "code"),
    [
        (LINK, "BadRequest"),
        (BY_ITSELF, "AccessDeniedException"),
        (BY_ITSELF, "ExpiredTokenException"),
        (BY_ITSELF, "ThrottlingException"),
        (BY_ITSELF, "FileSystemNotFound"),
        (BY_ITSELF, "ServiceLimitExceeded"),
    ],
)
def test_another_refusal_of_an_export_is_not_waited_for(
    link: Link, code: str, tmp_path: Path, s3: S3
) -> None:
    folder = write(tmp_path / "fsx", a=b"one")
    bucket = Bucket(s3.client, s3.bucket, "train")
    place, files = LustrePlace(ID, "data/train", folder), list_source(folder)
    tasks = tasks_of(FalseFsx(refusals=[code]))
    with pytest.raises(AwsError, match=code):
        export(tasks, link, place, bucket, files, manner=Manner(jobs=2))


class Counter:
    def __init__(self) -> None:
        self.total = 0

    def advance(self, amount: int) -> None:
        self.total += amount


FALSE_LFS = """#!/bin/sh
echo "$@" >> {log}
case "$1" in
  hsm_restore) exit {restores} ;;
  hsm_state)
    shift
    for file; do
      if [ "$(wc -l < {log})" -lt 3 ]; then echo "$file: (0x0000000d) released exists archived"
      else echo "$file: (0x00000009) exists archived, archive_id:1"; fi
    done ;;
esac
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may ask lfs")
@pytest.mark.parametrize(("restores", "commands"), [(0, 3), (1, 1)])
def test_contents_are_restored_by_lfs_or_else_read(
    restores: int, commands: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lustre_preload, "_POLL_S", 0.01)
    log = tmp_path / "log"
    lfs = tmp_path / "bin" / "lfs"
    lfs.parent.mkdir()
    lfs.write_text(FALSE_LFS.format(log=log, restores=restores))
    lfs.chmod(0o755)
    monkeypatch.setenv("PATH", f"{lfs.parent}:{os.environ['PATH']}")
    folder = write(tmp_path / "fsx", a=b"one", b=b"three")
    progress = Counter()
    preload(folder, folder.files(), jobs=2, progress=progress)
    lines = log.read_text().splitlines()
    assert lines[0] == f"hsm_restore {folder.root}/a {folder.root}/b"
    assert len(lines) == commands
    assert progress.total == 8
