"""The archive of what the notebook runs."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from stacks.constructs.notebook_source import PARTS, PROJECT, SCRIPTS, write_archive
from training.images.recipes import RECIPES
from training.images.tag import image_tag


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The same project at another place, checked out at another time by another user."""
    folder = tmp_path / "another place"
    folder.mkdir()
    for part in (*PARTS, str(SCRIPTS)):
        if (PROJECT / part).is_dir():
            shutil.copytree(PROJECT / part, folder / part)
        elif (PROJECT / part).is_file():
            shutil.copy(PROJECT / part, folder)
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    return folder


def archive_of(project: Path, place: Path) -> bytes:
    write_archive(place, project)
    return place.read_bytes()


def test_it_is_the_same_in_every_checkout(checkout: Path, tmp_path: Path) -> None:
    ours, other = tmp_path / "ours.zip", tmp_path / "other.zip"
    assert archive_of(PROJECT, ours) == archive_of(checkout, other)


def test_what_running_leaves_in_a_checkout_is_not_in_it(checkout: Path, tmp_path: Path) -> None:
    clean = archive_of(checkout, tmp_path / "clean.zip")
    for litter in (
        "training/__pycache__/launch.cpython-311.pyc",
        "training/.launch.py.swp",
        "jobs/.ipynb_checkpoints/a.yaml",
        "training/launch.py.orig",
        "tests/test_it.py",
        ".git/config",
        "runs/log/model.pt",
    ):
        path = checkout / litter
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("litter")
    assert archive_of(checkout, tmp_path / "littered.zip") == clean


def test_charts_have_their_library_inside(tmp_path: Path) -> None:
    """It is a link in the checkout."""
    write_archive(tmp_path / "source.zip", PROJECT)
    names = set(zipfile.ZipFile(tmp_path / "source.zip").namelist())
    for chart in ("maskrcnn", "maskrcnn-optimized", "maskrcnn-horovod"):
        assert f"charts/{chart}/charts/library/Chart.yaml" in names


def test_a_changed_file_changes_it(checkout: Path, tmp_path: Path) -> None:
    before = archive_of(checkout, tmp_path / "before.zip")
    (checkout / "training" / "launch.py").write_text("changed")
    assert archive_of(checkout, tmp_path / "after.zip") != before


def test_it_holds_what_the_start_and_the_launcher_need_and_no_secret_or_test(
    tmp_path: Path,
) -> None:
    write_archive(tmp_path / "source.zip", PROJECT)
    with zipfile.ZipFile(tmp_path / "source.zip") as archive:
        names = archive.namelist()
        entry = archive.getinfo("training/launch.py")
    assert {
        "notebooks/mask-rcnn-fsx.ipynb",
        "requirements-notebook.txt",
        "stacks/lifecycle/setup.sh",
        "stacks/lifecycle/stop_when_idle.py",
        "training/data/__main__.py",
        "training/launch.py",
    } <= set(names)
    assert names == sorted(names)
    assert not [name for name in names if "test" in name or name.startswith(("/", "."))]
    assert entry.external_attr >> 16 == 0o644
    assert (tmp_path / "source.zip").stat().st_size < 5_000_000


def test_jobs_launched_from_it_run_the_image_that_was_pushed_from_a_checkout(
    tmp_path: Path,
) -> None:
    write_archive(tmp_path / "source.zip", PROJECT)
    notebook = tmp_path / "notebook"
    with zipfile.ZipFile(tmp_path / "source.zip") as archive:
        archive.extractall(notebook)
    assert {name: image_tag(name, project=notebook) for name in RECIPES} == {
        name: image_tag(name) for name in RECIPES
    }
