"""The tag of an image: the same in every clone, another one with every change of what goes in."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from training.images.recipes import RECIPES
from training.images.sources import find_sources
from training.images.tag import image_tag, local_name


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The sources of an image in another place."""
    for path, file in find_sources(ROOT, RECIPES["horovod"].sources).items():
        target = tmp_path / "clone" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return tmp_path / "clone"


def test_a_clone_has_the_same_tag_whatever_was_left_in_it(clone: Path) -> None:
    tag = image_tag("horovod")
    (clone / "training/maskrcnn/__pycache__").mkdir()
    (clone / "training/maskrcnn/__pycache__/train.pyc").write_bytes(b"1")
    (clone / "training/maskrcnn/.train.py.swp").write_bytes(b"1")
    (clone / "training/launch.py").write_text("the launcher is not in the image")
    for file in clone.rglob("*.py"):
        os.utime(file, (1, 1))
        file.chmod(0o600)
    assert image_tag("horovod", project=clone) == tag
    assert len(tag) == 16
    assert set(tag) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    "path",
    [
        "docker/horovod/Dockerfile",
        "docker/horovod/adapter.py",
        "docker/entrypoint/main.py",
        "training/maskrcnn/train.py",
        "training/report/templates/report.css",
        "toolchain/horovod_patches.py",
        "docker/horovod/constraints.txt",
        "requirements-train.txt",
    ],
)
def test_a_change_of_any_source_is_another_image(path: str, clone: Path) -> None:
    with (clone / path).open("a") as file:
        file.write("\n")
    assert image_tag("horovod", project=clone) != image_tag("horovod")


def test_a_file_that_moves_or_goes_is_another_image(clone: Path) -> None:
    (clone / "training/maskrcnn/train.py").rename(clone / "training/maskrcnn/moved.py")
    moved = image_tag("horovod", project=clone)
    (clone / "training/maskrcnn/moved.py").unlink()
    assert len({moved, image_tag("horovod", project=clone), image_tag("horovod")}) == 3


def test_variants_and_algorithms_have_tags_of_their_own() -> None:
    assert image_tag("horovod", variant="cpu") == f"{image_tag('horovod')}-cpu"
    assert len({image_tag(algorithm) for algorithm in RECIPES}) == len(RECIPES)
    assert re.fullmatch(r"[0-9a-f]{16}-smddp", image_tag("horovod", variant="smddp"))
    assert local_name("horovod", variant="cpu") == (
        f"localhost/mask-rcnn/horovod:{image_tag('horovod')}-cpu"
    )
