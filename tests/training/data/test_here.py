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
from training.errors import UsageError
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


def linked(s3: S3, lives: int = 1) -> FalseFsx:
    association = {"FileSystemPath": "/data", "DataRepositoryPath": f"s3://{s3.bucket}"}
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
