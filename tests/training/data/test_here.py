"""Which way a request goes: FSx's own, or a copy."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.training.data.conftest import S3
from tests.training.data.test_lustre import FalseFsx
from tests.training.data.test_places import STORAGE
from training.data.bulk import NoBulk
from training.data.here import Here
from training.data.lustre_task import Tasks
from training.data.places import Place, Places
from training.data.progress import SILENT
from training.data.request import StageRequest
from training.errors import PreflightError, UsageError
from training.outputs import Outputs


@dataclass
class World:
    """A deployed StorageStack with a file system that mirrors its bucket, or not."""

    s3: S3
    root: Path
    fsx: FalseFsx
    told: list[str] = field(default_factory=list)

    @property
    def mount(self) -> Path:
        return self.root / STORAGE["FsxId"]

    def run(self, **request: Any) -> Any:
        outputs = {"StorageStack": {**STORAGE, "BucketName": self.s3.bucket}}
        here = Here(
            places=Places(
                make_client=lambda: self.s3.client,
                read_outputs=lambda: Outputs(outputs, source="outputs.json"),
                environ={"MASK_RCNN_MOUNTS": str(self.root)},
            ),
            make_bulk=lambda _: NoBulk(),
            make_tasks=lambda _: Tasks(self.fsx, STORAGE["FsxId"], print),  # type: ignore[arg-type]
            show_progress=lambda *_: nullcontext(SILENT),
            tell=self.told.append,
        )
        values = {"source": None, "from_place": None, "path": "train", "jobs": 2}
        return here.run(StageRequest(**{**values, **request}))

    @property
    def task_types(self) -> list[str]:
        return [request["Type"] for request in self.fsx.created]


def linked(s3: S3, lives: int = 1, **members: Any) -> FalseFsx:
    association = {
        "FileSystemPath": "/data",
        "DataRepositoryPath": f"s3://{s3.bucket}",
        **members,
    }
    return FalseFsx(
        file_system_id=STORAGE["FsxId"],
        associations=[association],
        lives=[{"Lifecycle": "SUCCEEDED"}] * lives,
    )


@pytest.fixture
def world(s3: S3, tmp_path: Path) -> World:
    for name, content in {"a": b"1", "b": b"22"}.items():
        s3.client.put_object(Bucket=s3.bucket, Key=f"train/{name}", Body=content)
    made = World(s3, tmp_path, linked(s3, lives=2))
    (made.mount / "data/train").mkdir(parents=True)
    (made.mount / "data/train/a").write_bytes(b"1")
    (made.mount / "data/train/b").write_bytes(b"22")
    return made


def test_a_linked_fsx_imports_and_nothing_is_copied(world: World) -> None:
    outcome = world.run(to=Place.FSX, preload=True)
    assert world.task_types == ["IMPORT_METADATA_FROM_REPOSITORY"]
    assert (outcome.how, outcome.files, outcome.bytes, outcome.extra_files) == ("imported", 2, 3, 0)
    assert not (world.mount / "data/train/manifest.json").exists()


def test_a_linked_fsx_that_is_not_mounted_imports_and_says_that_nobody_looked(
    world: World, tmp_path: Path
) -> None:
    world.root = tmp_path / "elsewhere"
    outcome = world.run(to=Place.FSX)
    assert (outcome.how, outcome.extra_files) == ("imported", None)
    assert "is not mounted on this machine: FSx says" in world.told[-1]


def test_preload_needs_the_mount(world: World, tmp_path: Path) -> None:
    world.root = tmp_path / "elsewhere"
    with pytest.raises(UsageError, match=r"--preload: .* is not mounted on this machine"):
        world.run(to=Place.FSX, preload=True)
    assert world.task_types == []


def test_a_linked_fsx_exports_and_releases(world: World) -> None:
    outcome = world.run(from_place=Place.FSX, to=Place.S3, release=True)
    assert world.task_types == ["EXPORT_TO_REPOSITORY", "RELEASE_DATA_FROM_FILESYSTEM"]
    assert (outcome.how, outcome.files, outcome.extra_files) == ("exported", 2, 0)


def test_without_a_link_it_is_copied(world: World) -> None:
    world.fsx = FalseFsx(file_system_id=STORAGE["FsxId"])
    (world.mount / "data/train/a").unlink()
    outcome = world.run(to=Place.FSX)
    assert (outcome.how, outcome.copied_files, world.task_types) == ("copied", 1, [])


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"to": Place.FSX, "preload": True}, "--preload: .* is not linked to s3://"),
        ({"from_place": Place.FSX, "to": Place.S3, "release": True}, "--release: .* not linked to"),
    ],
)
def test_what_needs_a_link_is_refused_without_one(
    request_: dict[str, Any], says: str, world: World
) -> None:
    world.fsx = FalseFsx(file_system_id=STORAGE["FsxId"])
    with pytest.raises(UsageError, match=says):
        world.run(**request_)


@pytest.mark.parametrize("request_", [{"to": Place.FSX}, {"from_place": Place.FSX, "to": Place.S3}])
def test_delete_is_refused_where_fsx_mirrors_s3(request_: dict[str, Any], world: World) -> None:
    with pytest.raises(UsageError, match=r"--delete: .* mirrors s3://"):
        world.run(**request_, delete=True)
    assert world.task_types == []


@pytest.mark.parametrize("request_", [{"to": Place.FSX}, {"from_place": Place.FSX, "to": Place.S3}])
@pytest.mark.parametrize("state", ["CREATING", "DELETING", "FAILED"])
def test_a_link_that_is_not_there_yet_or_any_more_is_refused(
    state: str, request_: dict[str, Any], world: World
) -> None:
    world.fsx = linked(world.s3, Lifecycle=state)
    with pytest.raises(PreflightError, match=f"the link of /data of .* is {state}: "):
        world.run(**request_)
    assert world.task_types == []


def test_a_misconfigured_link_is_used_and_told_of(world: World) -> None:
    details = {"Message": "no events"}
    world.fsx = linked(world.s3, Lifecycle="MISCONFIGURED", FailureDetails=details)
    assert world.run(to=Place.FSX).how == "imported"
    assert "is MISCONFIGURED (no events): FSx does what it is asked for" in world.told[0]


def with_import_path(s3: S3, export_path: str) -> FalseFsx:
    return FalseFsx(
        file_system_id=STORAGE["FsxId"], import_path=f"s3://{s3.bucket}", export_path=export_path
    )


def test_an_import_path_that_nobody_can_look_at_is_no_success(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STORAGE, "FsxDataPath", "/")
    world.fsx, world.root = with_import_path(world.s3, ""), tmp_path / "elsewhere"
    with pytest.raises(UsageError, match=r"linked by ImportPath: .* Run this where it is mounted"):
        world.run(to=Place.FSX)


def test_release_is_refused_where_fsx_exports_elsewhere(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STORAGE, "FsxDataPath", "/")
    world.fsx = with_import_path(world.s3, f"s3://{world.s3.bucket}/FSxLustre2026")
    (world.mount / "train").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"--release: .* to another place"):
        world.run(from_place=Place.FSX, to=Place.S3, release=True)
    assert world.task_types == []


def test_a_foreign_manifest_in_the_bucket_does_not_keep_its_files_out(world: World) -> None:
    world.s3.client.put_object(Bucket=world.s3.bucket, Key="train/manifest.json", Body=b"[]")
    assert world.run(to=Place.FSX).how == "imported"


@pytest.mark.parametrize(("events", "refused"), [(["NEW", "DELETED"], True), (["NEW"], False)])
def test_delete_is_refused_where_fsx_would_delete_in_s3_too(
    events: list[str], refused: bool, world: World, tmp_path: Path
) -> None:
    """The source is neither side of the link."""
    world.fsx = linked(world.s3, S3={"AutoExportPolicy": {"Events": events}})
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_bytes(b"1")
    if refused:
        with pytest.raises(UsageError, match=r"FSx deletes in s3://.* too: /data is linked"):
            world.run(source=str(source), to=Place.FSX, delete=True)
    else:
        world.run(source=str(source), to=Place.FSX, delete=True)
    assert (world.mount / "data/train/b").exists() is refused
