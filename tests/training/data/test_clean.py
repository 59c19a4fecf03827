from __future__ import annotations

import copy
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from training.data import new_set
from training.data.annotation_mending import Choices
from training.data.check import examine
from training.data.clean import CleanSet, write_clean_set
from training.data.health_page import render
from training.data.splits import find_splits
from training.errors import JobFailed, UsageError
from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.dataset import TrainingPictures
from training.maskrcnn.data.pictures import decode
from training.maskrcnn.data.sampler import Draw
from training.maskrcnn.hyperparameters import read_hyperparameters

WriteSet = Callable[[Any], TrainChannel]
SAMPLE = Path(__file__).parents[2] / "data" / "coco"

SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-50, 50)
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["7", "1.5", "a.jpg", "../b.jpg", "x\\b.jpg"])
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=8)
        | st.dictionaries(st.sampled_from(["size", "counts", "id", "name"]), inner)
    ),
    max_leaves=12,
)
NUMBERS = st.lists(st.integers(-60, 90) | st.floats(-60, 90), min_size=4, max_size=10)
BROKEN_FILES = st.sampled_from(["gone", "empty", "cut", "html", "other size", "png", "turned"])


def fix(channel: TrainChannel, out: Path, choices: Choices | None = None) -> CleanSet:
    splits = find_splits(channel.root)
    return write_clean_set([(split, {}) for split in splits], out, choices or Choices())


def errors_of(out: Path) -> list[str]:
    health = examine(find_splits(out))
    return [finding.to_line() for finding in health.findings if finding.severity == "error"]


def document_of(out: Path, split: str = "train2017") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(TrainChannel(out).annotations(split).read_text())
    return content


def reasons(cleaned: CleanSet) -> list[str]:
    return [kind.reason for ledger in cleaned.ledgers for kind in ledger.entries]


def turn(path: Path, size: tuple[int, int], orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = Image.new("RGB", size, "blue")
    picture.paste("red", (0, 0, 5, 5))
    picture.save(path, exif=exif, quality=95)


def damage_file(path: Path, how: str) -> None:
    if how == "gone":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif how == "html":
        path.write_bytes(b"<html>404</html>")
    elif how == "other size":
        Image.new("RGB", (33, 7)).save(path)
    elif how == "png":
        Image.new("RGBA", (20, 20), (0, 0, 0, 9)).save(path, format="PNG")
    else:
        turn(path, (30, 40), 6)


@st.composite
def damages(draw: st.DrawFn) -> list[tuple[str, int, str, Any]]:
    """Return values to be set: list, place in it, key, value."""
    keys = {
        "images": ["id", "file_name", "width", "height"],
        "annotations": [
            "id",
            "image_id",
            "category_id",
            "bbox",
            "area",
            "iscrowd",
            "segmentation",
            "extra",
        ],
        "categories": ["id", "name", "supercategory"],
    }
    found = []
    for _ in range(draw(st.integers(0, 8))):
        name = draw(st.sampled_from(sorted(keys)))
        key = draw(st.sampled_from(keys[name]))
        value = draw(VALUE | NUMBERS | st.lists(NUMBERS, max_size=3))
        found.append((name, draw(st.integers(0, 5)), key, value))
    return found


@settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    damaged=damages(),
    files=st.dictionaries(st.sampled_from(["a.jpg", "b.jpg"]), BROKEN_FILES),
    twice=st.booleans(),
)
def test_whatever_is_wrong_with_a_set_its_cleaned_copy_checks_clean(
    *,
    write_set: WriteSet,
    document: dict[str, Any],
    tmp_path: Path,
    damaged: list[tuple[str, int, str, Any]],
    files: dict[str, str],
    twice: bool,
) -> None:
    content = copy.deepcopy(document)
    # One picture and object stay as they are, so that something is left.
    content["images"].append({"id": 99, "file_name": "c.png", "width": 9, "height": 9})
    sound = {"bbox": [1, 1, 5, 5], "segmentation": [[1, 1, 6, 1, 6, 6]], "area": 12, "iscrowd": 0}
    sound |= {"id": 99, "image_id": 99, "category_id": 98}
    content["annotations"].append(sound)
    content["categories"].append({"id": 98, "name": "sound"})
    if twice:
        content["annotations"] += [dict(one) for one in content["annotations"]]
        content["images"].append(dict(content["images"][0]))
    for name, place, key, value in damaged:
        entries = content[name][: -1 - twice * len(content[name]) // 2 or None]
        if entries:
            entries[place % len(entries)][key] = value
    channel = write_set(content)
    Image.new("RGB", (9, 9)).save(channel.images("train2017") / "c.png")
    for name, how in files.items():
        damage_file(channel.images("train2017") / name, how)
    health = examine(find_splits(channel.root), exhibits=4)
    assert json.loads(json.dumps(health.to_json(channel.root), allow_nan=False))
    assert "</html>" in render(channel.root, health)
    out = tmp_path / "clean"
    shutil.rmtree(out, ignore_errors=True)
    fix(channel, out, Choices(boxes_as_masks=twice, crowds_as_objects=bool(files)))
    assert errors_of(out) == []
    split = read_split(TrainChannel(out), "train2017")
    assert split.skipped == ()
    for record in split.records:
        decode(record)
        assert (record.boxes[:, 2:] > record.boxes[:, :2]).all()


def test_a_cleaned_export_of_real_pictures_goes_through_the_trainers_data_set(
    tmp_path: Path,
) -> None:
    # As Roboflow writes it: pictures beside, a group first, no iscrowd, areas as text.
    export = tmp_path / "export" / "train"
    shutil.copytree(SAMPLE / "train2017", export)
    content = json.loads(TrainChannel(SAMPLE).annotations("train2017").read_text())
    for entry in content["categories"]:
        entry["supercategory"] = "things"
    content["categories"].insert(0, {"id": 0, "name": "things", "supercategory": "none"})
    for annotation in content["annotations"]:
        del annotation["iscrowd"]
        annotation["area"] = str(annotation["area"])
    (export / "_annotations.coco.json").write_text(json.dumps(content))
    broken = export / "000000006818.jpg"
    broken.write_bytes(broken.read_bytes()[:-3000])
    fix(TrainChannel(export.parent), tmp_path / "clean")
    assert errors_of(tmp_path / "clean") == []
    split = read_split(TrainChannel(tmp_path / "clean"), "train")
    assert (len(split.records), len(split.categories), split.skipped) == (10, 80, ())
    small = {"image_short_sides": [64], "image_max_side": 96}
    pictures = TrainingPictures(split.records, read_hyperparameters(small, source="test"))
    for index, record in enumerate(split.records):
        picture = pictures[Draw(index, 0)]
        assert picture.broken == ()
        assert len(picture.target.labels) == len(record.labels)
        assert (picture.target.boxes[:, 2:] > picture.target.boxes[:, :2]).all()


def test_a_sound_set_is_copied_byte_by_byte_and_told_so(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    channel = write_set(document)
    cleaned = fix(channel, tmp_path / "clean")
    assert document_of(tmp_path / "clean") == document
    for name in ("a.jpg", "b.jpg"):
        source = channel.images("train2017") / name
        copied = TrainChannel(tmp_path / "clean").images("train2017") / name
        assert copied.read_bytes() == source.read_bytes()
        assert not copied.samefile(source)
    assert "nothing had to be dropped or changed" in list(cleaned.lines())


def test_the_source_is_never_changed(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    document["annotations"][0]["bbox"] = [1, 1, 0, 5]
    channel = write_set(document)
    folder = channel.images("train2017")
    turn(folder / "a.jpg", (40, 30), 3)
    Image.new("CMYK", (20, 20)).save(folder / "b.jpg")
    before = {path: path.read_bytes() for path in channel.root.rglob("*") if path.is_file()}
    fix(channel, tmp_path / "clean")
    assert {path: path.read_bytes() for path in channel.root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("changes", "expected", "how"),
    [
        ({"bbox": [1, 1, 0, 5]}, {"bbox": [2, 3, 10, 8]}, "took the box of its mask"),
        ({"bbox": [-5, 3, 15, 40]}, {"bbox": [0, 3, 10, 27]}, "cut the box at the picture's"),
        ({"bbox": ["2", "3", "10", 8]}, {"bbox": [2, 3, 10, 8]}, "corrected the form of the box"),
        ({"area": "80.5"}, {"area": 80.5}, "corrected the form of the area"),
        ({"area": float("nan")}, {"area": 80.0}, "computed the area"),
        ({"area": -1}, {"area": 80.0}, "computed the area"),
        ({"iscrowd": None}, {"iscrowd": 0}, "set iscrowd"),
        ({"iscrowd": False}, {"iscrowd": 0}, "corrected iscrowd"),
        (
            {"segmentation": [2, 3, 12, 3, 12, 11, 2, 11]},
            {"segmentation": [[2, 3, 12, 3, 12, 11, 2, 11]]},
            "corrected the form of the polygons",
        ),
        (
            {"segmentation": [[[2, 3], [12, 3], [12, 11]]]},
            {"segmentation": [[2, 3, 12, 3, 12, 11]]},
            "corrected the form of the polygons",
        ),
        (
            {"segmentation": [[1, 1, 5, 5], [2, 3, 12, 3, 12, 11]]},
            {"segmentation": [[2, 3, 12, 3, 12, 11]]},
            "left out polygons that cannot be drawn",
        ),
        (
            # A column of 30 pixels, the first.
            {"segmentation": {"size": [30, 40], "counts": [0, 30, 1170]}},
            {"segmentation": [[0, 0, 1, 0, 1, 30, 0, 30]]},
            "turned the RLE mask of an object into polygons",
        ),
    ],
)
def test_what_is_sure_from_the_rest_of_an_annotation_is_mended(
    *,
    changes: dict[str, Any],
    expected: dict[str, Any],
    how: str,
    write_set: WriteSet,
    document: dict[str, Any],
    tmp_path: Path,
) -> None:
    original = dict(document["annotations"][0])
    document["annotations"][0] |= changes
    cleaned = fix(write_set(document), tmp_path / "clean")
    assert document_of(tmp_path / "clean")["annotations"][0] == original | expected
    (reason,) = reasons(cleaned)
    assert reason.startswith(how)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"segmentation": []}, "it has no mask"),
        ({"segmentation": {"size": [40, 30], "counts": [1200]}}, "its RLE mask does not fit"),
        ({"category_id": 4}, "its category is not in the file"),
        ({"image_id": 44}, "its picture is not in the copy"),
        ({"bbox": None, "segmentation": None}, "a value is missing"),
    ],
)
def test_what_cannot_be_known_is_dropped_with_its_place(
    changes: dict[str, Any],
    reason: str,
    write_set: WriteSet,
    document: dict[str, Any],
    tmp_path: Path,
) -> None:
    document["annotations"][0] |= changes
    cleaned = fix(write_set(document), tmp_path / "clean")
    assert [one["id"] for one in document_of(tmp_path / "clean")["annotations"]] == [2]
    (done,) = cleaned.to_json()["done"]
    assert (done["action"], done["subject"], done["count"]) == ("dropped", "annotation", 1)
    assert done["reason"].startswith(reason)
    assert done["places"][0].startswith("annotations[0] (id 1, image ")
    assert json.loads((tmp_path / "clean/cleaned.json").read_text()) == cleaned.to_json()


def test_ids_used_twice_become_unique_and_repeated_annotations_go(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    document["annotations"][1]["id"] = 1
    document["annotations"].append(dict(document["annotations"][0]))
    cleaned = fix(write_set(document), tmp_path / "clean")
    kept = document_of(tmp_path / "clean")["annotations"]
    assert [(one["id"], one["image_id"]) for one in kept] == [(1, 1), (2, 2)]
    assert sorted(reasons(cleaned)) == [
        "gave it an id of its own",
        "the same annotation is there already",
    ]


def test_two_entries_of_one_file_become_one_with_the_annotations_of_both(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    document["images"].append({**document["images"][0], "id": 7})
    document["annotations"][1]["image_id"] = 7
    fix(write_set(document), tmp_path / "clean")
    content = document_of(tmp_path / "clean")
    assert [one["id"] for one in content["images"]] == [1, 2]
    assert [one["image_id"] for one in content["annotations"]] == [1, 1]


@pytest.mark.parametrize("told", ["images/a.jpg", "C:\\data\\a.jpg", "/home/me/a.jpg", "../a.jpg"])
def test_a_file_name_that_leads_elsewhere_means_the_one_file_of_that_name(
    told: str, write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    document["images"][0]["file_name"] = told
    fix(write_set(document), tmp_path / "clean")
    assert document_of(tmp_path / "clean")["images"][0]["file_name"] == "a.jpg"
    assert errors_of(tmp_path / "clean") == []


def test_a_picture_shown_turned_is_written_upright_with_its_annotations(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    channel = write_set(document)
    turn(channel.images("train2017") / "a.jpg", (30, 40), 6)
    turn(channel.images("train2017") / "b.jpg", (20, 20), 3)
    cleaned = fix(channel, tmp_path / "clean")
    folder = TrainChannel(tmp_path / "clean").images("train2017")
    with Image.open(folder / "a.jpg") as picture:
        assert picture.size == (40, 30)
        assert picture.getexif().get(0x0112, 1) == 1
        # The red corner goes from the upper left to the upper right.
        red, _, blue = picture.convert("RGB").getpixel((37, 2))  # type: ignore[misc]
        assert red > 200 and blue < 60
    # Its square neighbour cannot tell; the set's annotations belong to turned pictures.
    with Image.open(folder / "b.jpg") as picture:
        red, _, blue = picture.convert("RGB").getpixel((17, 17))  # type: ignore[misc]
        assert red > 200 and blue < 60
    assert reasons(cleaned) == ["turned it upright"]


def test_a_rotation_tag_on_a_picture_that_fits_as_stored_is_reset_without_touching_pixels(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    channel = write_set(document)
    source = channel.images("train2017") / "a.jpg"
    turn(source, (40, 30), 8)
    fix(channel, tmp_path / "clean")
    copied = TrainChannel(tmp_path / "clean").images("train2017") / "a.jpg"
    assert len(copied.read_bytes()) == len(source.read_bytes())
    changed = [a != b for a, b in zip(copied.read_bytes(), source.read_bytes(), strict=True)]
    assert sum(changed) == 1
    with Image.open(copied) as picture:
        assert picture.getexif()[0x0112] == 1
        assert picture.tobytes() == Image.open(source).tobytes()


@pytest.mark.parametrize(
    ("save", "name", "mode", "colour"),
    [
        (
            lambda path: Image.new("CMYK", (40, 30), (0, 0, 0, 0)).save(path),
            "a.jpg",
            "RGB",
            (255, 255, 255),
        ),
        (
            lambda path: Image.new("I;16", (40, 30), 65535).save(path, format="PNG"),
            "a.png",
            "L",
            255,
        ),
        (
            lambda path: Image.new("RGBA", (40, 30), (0, 0, 0, 0)).save(path, format="PNG"),
            "a.png",
            "RGB",
            (255, 255, 255),
        ),
        (
            lambda path: Image.new("RGB", (40, 30), "red").save(
                path, format="GIF", save_all=True, append_images=[Image.new("RGB", (40, 30))]
            ),
            "a.png",
            "RGB",
            (255, 0, 0),
        ),
        (lambda path: Image.new("L", (40, 30), 7).save(path, format="PNG"), "a.png", "L", 7),
    ],
    ids=["CMYK", "16 bits", "transparent", "animated", "wrong extension"],
)
def test_pictures_that_programs_read_differently_are_rewritten(
    *,
    save: Callable[[Path], None],
    name: str,
    mode: str,
    colour: Any,
    write_set: WriteSet,
    document: dict[str, Any],
    tmp_path: Path,
) -> None:
    channel = write_set(document)
    save(channel.images("train2017") / "a.jpg")
    fix(channel, tmp_path / "clean")
    out = TrainChannel(tmp_path / "clean")
    assert document_of(out.root)["images"][0]["file_name"] == name
    with Image.open(out.images("train2017") / name) as picture:
        assert picture.mode == mode
        assert picture.getpixel((5, 5)) == colour
    assert list(examine(find_splits(out.root)).findings) == []


def test_a_renamed_picture_does_not_take_the_name_of_another(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    document["images"][1]["file_name"] = "A.PNG"
    channel = write_set(document)
    folder = channel.images("train2017")
    Image.new("RGB", (40, 30)).save(folder / "a.jpg", format="PNG")
    Image.new("RGB", (20, 20)).save(folder / "A.PNG")
    fix(channel, tmp_path / "clean")
    names = [image["file_name"] for image in document_of(tmp_path / "clean")["images"]]
    assert names == ["a-2.png", "A.PNG"]


def test_a_size_that_differs_drops_the_picture_only_where_it_has_annotations(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    document["images"] += [{"id": 3, "file_name": "c.png", "width": 9, "height": 5}]
    document["images"][0]["width"] = 99
    channel = write_set(document)
    Image.new("RGB", (6, 6)).save(channel.images("train2017") / "c.png")
    fix(channel, tmp_path / "clean")
    kept = document_of(tmp_path / "clean")["images"]
    assert [(one["id"], one["width"], one["height"]) for one in kept] == [(2, 20, 20), (3, 6, 6)]


def test_splits_get_one_list_of_categories_by_name(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    channel = write_set(document)
    other = copy.deepcopy(document)
    other["categories"] = [{"id": 3, "name": "moon"}, {"id": 8, "name": "star"}]
    other["annotations"][1]["category_id"] = 8
    channel.annotations("val2017").write_text(json.dumps(other))
    shutil.copytree(channel.images("train2017"), channel.images("val2017"))
    assert [one.code for one in examine(find_splits(channel.root)).findings] == [
        "categories-differ"
    ]
    fix(channel, tmp_path / "clean")
    val = document_of(tmp_path / "clean", "val2017")
    assert val["categories"] == document_of(tmp_path / "clean")["categories"]
    names = {one["id"]: one["name"] for one in val["categories"]}
    assert [names[one["category_id"]] for one in val["annotations"]] == ["moon", "star"]
    assert errors_of(tmp_path / "clean") == []


def test_a_category_that_only_groups_others_goes(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    group = {"id": 0, "name": "shapes", "supercategory": "none"}
    document["categories"] = [group, {"id": 3, "name": "star", "supercategory": "shapes"}]
    channel = write_set(document)
    assert [one.code for one in examine(find_splits(channel.root)).findings] == ["category-group"]
    fix(channel, tmp_path / "clean")
    assert [one["id"] for one in document_of(tmp_path / "clean")["categories"]] == [3]


def test_objects_without_masks_are_dropped_unless_their_boxes_serve_as_masks(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    for annotation in document["annotations"]:
        annotation["segmentation"] = []
    channel = write_set(document)
    with pytest.raises(UsageError, match="nothing would be left to learn from") as failed:
        fix(channel, tmp_path / "clean")
    assert "dropped 2 annotations (it has no mask)" in str(failed.value)
    assert "--boxes-as-masks" in str(failed.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set"]
    fix(channel, tmp_path / "clean", Choices(boxes_as_masks=True))
    masks = [one["segmentation"] for one in document_of(tmp_path / "clean")["annotations"]]
    assert masks == [[[2, 3, 12, 3, 12, 11, 2, 11]]] * 2


def test_painted_masks_marked_as_crowds_become_objects_on_demand(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    rle = {"size": [30, 40], "counts": [0, 30, 1170]}
    document["annotations"][0] |= {"iscrowd": 1, "segmentation": rle, "bbox": [0, 0, 1, 30]}
    del document["annotations"][1]
    channel = write_set(document)
    (finding,) = examine(find_splits(channel.root)).findings
    assert finding.code == "dataset-no-objects"
    assert "--crowds-as-objects" in finding.message
    fix(channel, tmp_path / "clean", Choices(crowds_as_objects=True))
    (made,) = document_of(tmp_path / "clean")["annotations"]
    assert made["iscrowd"] == 0
    assert made["segmentation"] == [[0, 0, 1, 0, 1, 30, 0, 30]]


def test_a_split_without_any_object_is_left_out_and_told(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    channel = write_set(document)
    channel.annotations("test").write_text(json.dumps({**document, "annotations": []}))
    shutil.copytree(channel.images("train2017"), channel.images("test"))
    cleaned = fix(channel, tmp_path / "clean")
    assert [one.name for one in cleaned.splits] == ["train2017"]
    assert "test: dropped 1 split (no object is left of 0): test" in list(cleaned.lines())
    assert errors_of(tmp_path / "clean") == []


def test_nan_outside_of_what_is_judged_becomes_null(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    document["info"] = {"score": float("nan"), "all": [float("inf"), 1]}
    fix(write_set(document), tmp_path / "clean")
    assert document_of(tmp_path / "clean")["info"] == {"score": None, "all": [None, 1]}


def test_a_full_disk_is_one_error_and_leaves_nothing(
    write_set: WriteSet,
    document: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    channel = write_set(document)
    monkeypatch.setattr(new_set.shutil, "copyfile", fail)
    with pytest.raises(JobFailed, match=r"No space left on device.*Nothing is left of it"):
        fix(channel, tmp_path / "clean")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set"]


def test_a_folder_that_holds_something_is_not_touched(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds something\. Nothing is overwritten"):
        fix(write_set(document), tmp_path / "clean")
    assert (tmp_path / "clean" / "mine.txt").read_text() == "mine"


def test_a_killed_run_leaves_nothing_under_the_final_name_and_the_next_one_succeeds(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    for number in range(400):
        document["images"].append(
            {"id": 10 + number, "file_name": f"{number}.png", "width": 9, "height": 9}
        )
    channel = write_set(document)
    Image.new("RGB", (9, 9)).save(channel.images("train2017") / "0.png")
    for number in range(1, 400):
        shutil.copy(
            channel.images("train2017") / "0.png", channel.images("train2017") / f"{number}.png"
        )
    out = tmp_path / "clean"
    code = (
        "from pathlib import Path; from training.data.clean import write_clean_set;"
        "from training.data.annotation_mending import Choices;"
        "from training.data.splits import find_splits;"
        f"splits = find_splits(Path({str(channel.root)!r}));"
        f"write_clean_set([(s, {{}}) for s in splits], Path({str(out)!r}), Choices())"
    )
    aside = tmp_path / ".clean.partial" / "train2017"
    process = subprocess.Popen([sys.executable, "-c", code])
    while process.poll() is None and not (aside.is_dir() and any(aside.iterdir())):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not out.exists()
    fix(channel, out)
    assert errors_of(out) == []
    assert len(list((out / "train2017").iterdir())) == 402
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clean", "set"]


def test_a_copy_does_not_go_among_the_pictures_of_the_set(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    out = channel.images("train2017") / "deep" / "out"
    with pytest.raises(UsageError, match=r"--fix .*out: is among the pictures of the set"):
        fix(channel, out)
    assert not out.parent.exists()


def test_a_link_to_itself_among_the_pictures_is_left_out(
    write_set: WriteSet, document: dict[str, Any], tmp_path: Path
) -> None:
    channel = write_set(document)
    (channel.images("train2017") / "self").symlink_to("self")
    assert fix(channel, tmp_path / "out").splits[0].pictures == 2
