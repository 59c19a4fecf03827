from __future__ import annotations

from pathlib import Path

import pytest

from training.data.splits import Split, find_splits
from training.errors import UsageError


def make(root: Path, *files: str) -> Path:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
    return root


def found(root: Path, *names: str) -> dict[str, tuple[str, str, bool]]:
    """Return annotation file and picture folder of each split, below the root."""
    return {
        split.name: (
            str(split.annotations.relative_to(root)),
            str(split.images(names).relative_to(root)),
            split.is_channel,
        )
        for split in find_splits(root)
    }


def test_the_layout_that_training_reads(tmp_path: Path) -> None:
    make(tmp_path, "annotations/instances_train2017.json", "train2017/1.jpg")
    make(tmp_path, "annotations/captions_train2017.json")
    assert found(tmp_path) == {
        "train2017": ("annotations/instances_train2017.json", "train2017", True)
    }


def test_roboflow_has_the_annotations_beside_the_pictures_of_each_split(tmp_path: Path) -> None:
    make(tmp_path, "README.roboflow.txt", "train/_annotations.coco.json", "train/1.rf.0a.jpg")
    make(tmp_path, "valid/_annotations.coco.json")
    assert found(tmp_path) == {
        "train": ("train/_annotations.coco.json", "train", False),
        "valid": ("valid/_annotations.coco.json", "valid", False),
    }
    (one,) = find_splits(tmp_path / "train")
    assert (one.name, one.images(["1.rf.0a.jpg"])) == ("train", tmp_path / "train")


@pytest.mark.parametrize("picture", ["images/1.jpg", "images/default/1.jpg", "default/1.jpg"])
def test_cvat_has_one_folder_of_images_or_one_a_split(picture: str, tmp_path: Path) -> None:
    make(tmp_path, "annotations/instances_default.json", picture)
    (split,) = find_splits(tmp_path)
    assert split.name == "default"
    assert split.images(["1.jpg"]) == (tmp_path / picture).parent


def test_label_studio_names_the_folder_of_images_in_each_file_name(tmp_path: Path) -> None:
    make(tmp_path, "result.json", "images/0a1b-1.jpg")
    assert found(tmp_path, "images/0a1b-1.jpg") == {"train": ("result.json", ".", False)}


def test_fiftyone_has_labels_and_data(tmp_path: Path) -> None:
    make(tmp_path, "labels.json", "data/1.jpg")
    assert found(tmp_path, "1.jpg") == {"train": ("labels.json", "data", False)}


def test_files_of_the_same_meaning_keep_their_own_names(tmp_path: Path) -> None:
    make(tmp_path, "labels.json", "result.json", "val.json")
    assert sorted(found(tmp_path)) == ["labels", "result", "val"]


def test_a_file_may_be_named_itself_with_its_folder_of_pictures(tmp_path: Path) -> None:
    make(tmp_path, "a/my labels.json", "b/1.jpg")
    (split,) = find_splits(tmp_path / "a/my labels.json", images=tmp_path / "b")
    assert split == Split(
        "my-labels", tmp_path / "a/my labels.json", (tmp_path / "b",), is_channel=False
    )


def test_a_file_in_the_layout_of_training_is_that_split(tmp_path: Path) -> None:
    make(tmp_path, "annotations/instances_val2017.json", "val2017/1.jpg")
    assert find_splits(tmp_path / "annotations/instances_val2017.json") == find_splits(tmp_path)


def test_splits_that_are_not_there_are_named_with_those_that_are(tmp_path: Path) -> None:
    make(tmp_path, "annotations/instances_train2017.json", "train2017/1.jpg")
    with pytest.raises(UsageError, match="has no split val2017; it has train2017"):
        find_splits(tmp_path, ["train2017", "val2017"])


@pytest.mark.parametrize("name", ["", "absent"])
def test_a_place_without_a_set_says_what_was_expected(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"_annotations\.coco\.json|no such folder"):
        find_splits(tmp_path / name)


@pytest.mark.parametrize("name", ["x" * 300 + ".jpg", "a\0b", "../../1.jpg"])
def test_odd_file_names_are_no_reason_to_stop_looking(name: str, tmp_path: Path) -> None:
    make(tmp_path, "labels.json", "data/1.jpg")
    (split,) = find_splits(tmp_path)
    assert split.images([name, "1.jpg"]) == tmp_path / "data"
