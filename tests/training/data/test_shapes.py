from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO

from training.data.check import check_dataset
from training.data.shapes import ShapesSet, make_shapes
from training.errors import UsageError
from training.layout import TrainChannel

WANTED = ShapesSet(train=120, val=30, seed=3)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> TrainChannel:
    channel = TrainChannel(tmp_path_factory.mktemp("shapes") / "set")
    make_shapes(channel.root, WANTED)
    return channel


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def load(channel: TrainChannel, split: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(channel.annotations(split).read_text())
    return document


def test_two_runs_write_the_same_bytes(shapes: TrainChannel, tmp_path: Path) -> None:
    make_shapes(tmp_path / "again", WANTED)
    assert contents(tmp_path / "again") == contents(shapes.root)


def test_another_seed_gives_other_pictures(shapes: TrainChannel, tmp_path: Path) -> None:
    make_shapes(tmp_path / "other", ShapesSet(train=5, val=1, seed=4))
    assert not set(contents(tmp_path / "other").values()) & set(contents(shapes.root).values())


def test_a_larger_set_begins_with_the_pictures_of_a_smaller_one(
    shapes: TrainChannel, tmp_path: Path
) -> None:
    make_shapes(tmp_path / "small", ShapesSet(train=10, val=2, seed=3))
    small, large = contents(tmp_path / "small"), contents(shapes.root)
    pictures = [name for name in small if name.endswith(".jpg")]
    assert len(pictures) == 12
    assert all(small[name] == large[name] for name in pictures)


def test_train_and_val_share_no_picture_and_no_id(shapes: TrainChannel) -> None:
    train, val = contents(shapes.images("train2017")), contents(shapes.images("val2017"))
    assert len(set(train.values())) == 120
    assert not set(train.values()) & set(val.values())
    ids = [{image["id"] for image in load(shapes, s)["images"]} for s in ("train2017", "val2017")]
    assert not ids[0] & ids[1]


def test_the_set_has_no_fault_that_the_check_knows(shapes: TrainChannel) -> None:
    assert list(check_dataset(shapes, ["train2017", "val2017"])) == []


def test_boxes_and_areas_are_those_of_the_masks_that_pycocotools_reads(
    shapes: TrainChannel,
) -> None:
    coco = COCO(shapes.annotations("train2017"))
    for annotation in coco.anns.values():
        mask = coco.annToMask(annotation)
        rows, columns = np.nonzero(mask.any(1))[0], np.nonzero(mask.any(0))[0]
        width, height = columns[-1] + 1 - columns[0], rows[-1] + 1 - rows[0]
        assert annotation["bbox"] == [columns[0], rows[0], width, height]
        assert annotation["area"] == mask.sum()


def test_crowds_are_run_lengths_and_objects_are_polygons(shapes: TrainChannel) -> None:
    annotations = load(shapes, "train2017")["annotations"]
    crowds = [a["segmentation"] for a in annotations if a["iscrowd"]]
    objects = [a["segmentation"] for a in annotations if not a["iscrowd"]]
    assert crowds
    assert all(sum(crowd["counts"]) == 128 * 128 for crowd in crowds)
    assert all(isinstance(polygons, list) for polygons in objects)


def test_small_and_larger_objects_every_category_and_empty_pictures_are_there(
    shapes: TrainChannel,
) -> None:
    document = load(shapes, "train2017")
    areas = [a["area"] for a in document["annotations"] if not a["iscrowd"]]
    assert min(areas) < 16**2
    assert max(areas) > 64**2
    assert {a["category_id"] for a in document["annotations"]} == {1, 2, 3, 4}
    assert len({a["image_id"] for a in document["annotations"]}) < 120


def test_the_same_set_is_not_made_again(shapes: TrainChannel) -> None:
    before = shapes.annotations("train2017").stat()
    assert make_shapes(shapes.root, WANTED) is False
    assert shapes.annotations("train2017").stat() == before


def test_another_set_in_the_folder_is_refused_and_kept(shapes: TrainChannel) -> None:
    before = contents(shapes.root)
    with pytest.raises(UsageError, match=r'another set: .*"seed": 3'):
        make_shapes(shapes.root, ShapesSet(train=120, val=30, seed=4))
    assert contents(shapes.root) == before


def test_a_folder_with_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="not a set of shapes"):
        make_shapes(tmp_path, WANTED)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_set_that_lost_pictures_is_named_as_damaged(tmp_path: Path) -> None:
    small = ShapesSet(train=3, val=1)
    make_shapes(tmp_path / "set", small)
    next((tmp_path / "set" / "train2017").iterdir()).unlink()
    with pytest.raises(UsageError, match="train2017 has 2 of 3 pictures"):
        make_shapes(tmp_path / "set", small)


@pytest.mark.parametrize(
    ("field", "value"),
    [("train", 0), ("val", 0), ("train", 1_000_001), ("seed", -1), ("size", 63), ("size", 1025)],
)
def test_values_out_of_range_are_refused_by_name(field: str, value: int) -> None:
    with pytest.raises(UsageError, match=f"--{field} {value}: must be from"):
        ShapesSet(**{field: value})


def test_what_a_killed_run_left_does_not_stop_the_next_one(tmp_path: Path) -> None:
    left = tmp_path / ".set.partial" / "train2017"
    left.mkdir(parents=True)
    (left / "half.jpg").write_bytes(b"half")
    make_shapes(tmp_path / "set", ShapesSet(train=2, val=1))
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    assert len(list((tmp_path / "set" / "train2017").iterdir())) == 2


def test_a_failed_run_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def advance(self, amount: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_shapes(tmp_path / "set", ShapesSet(train=2, val=1), Failing())
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_of_the_same_folder_waits_for_nobody_and_says_so(tmp_path: Path) -> None:
    import fcntl

    partial = tmp_path / ".set.partial"
    partial.mkdir()
    lock = os.open(partial, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        with pytest.raises(UsageError, match="another run is making it"):
            make_shapes(tmp_path / "set", ShapesSet(train=2, val=1))
    finally:
        os.close(lock)


def test_a_place_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot be written|not a folder"):
        make_shapes(tmp_path / "file" / "set", ShapesSet(train=2, val=1))


def test_shapes_command_needs_no_torch() -> None:
    code = "import sys, training.data.shapes; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
