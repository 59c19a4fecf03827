"""The archive of what a node runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from stacks.constructs.node_programs import PARTS, RunsIn
from stacks.constructs.source_archive import PROJECT, write_zip

LARGEST_BYTES = 5_000_000


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The same project at another place, checked out at another time by another user."""
    folder = tmp_path / "another place"
    for part in PARTS["environment"]:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        if (PROJECT / part).is_dir():
            shutil.copytree(PROJECT / part, folder / part)
        else:
            shutil.copy(PROJECT / part, folder / part)
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    return folder


def names(place: Path, runs_in: RunsIn, project: Path = PROJECT) -> list[str]:
    write_zip(place, project, PARTS[runs_in])
    with zipfile.ZipFile(place) as archive:
        return archive.namelist()


@pytest.mark.parametrize("runs_in", PARTS)
def test_it_is_the_same_in_every_checkout_that_has_run(
    runs_in: RunsIn, checkout: Path, tmp_path: Path
) -> None:
    for litter in ("node/__pycache__/a.pyc", "docker/entrypoint/.a.swp", "training/launch.py.orig"):
        path = checkout / litter
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("litter")
    digests = []
    for number, project in enumerate((PROJECT, checkout)):
        place = tmp_path / f"{number}.zip"
        write_zip(place, project, PARTS[runs_in])
        digests.append(hashlib.sha256(place.read_bytes()).hexdigest())
    assert digests[0] == digests[1]


def test_where_jobs_run_in_images_a_change_of_the_trainer_replaces_no_node(
    checkout: Path, tmp_path: Path
) -> None:
    write_zip(tmp_path / "before.zip", checkout, PARTS["image"])
    (checkout / "training" / "maskrcnn" / "train.py").write_text("changed")
    write_zip(tmp_path / "after.zip", checkout, PARTS["image"])
    assert (tmp_path / "before.zip").read_bytes() == (tmp_path / "after.zip").read_bytes()


def test_it_holds_what_a_node_needs_and_no_test(tmp_path: Path) -> None:
    image = set(names(tmp_path / "image.zip", "image"))
    environment = set(names(tmp_path / "environment.zip", "environment"))
    assert "docker/entrypoint/main.py" in image
    assert image < environment
    assert {
        "constraints.txt",
        "docker/horovod/adapter.py",
        "requirements-train.txt",
        "training/maskrcnn/train.py",
    } <= environment - image
    assert not [name for name in environment if name.startswith(("tests/", "stacks/", "/", "."))]
    assert (tmp_path / "environment.zip").stat().st_size < LARGEST_BYTES


def test_the_set_up_is_where_the_user_data_looks_for_it(tmp_path: Path) -> None:
    assert "node/setup.sh" in names(tmp_path / "image.zip", "image")
