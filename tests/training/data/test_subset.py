from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.check import examine
from training.data.splits import find_splits
from training.data.subset import Subset, Wanted, write_subset
from training.errors import UsageError
from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split

WriteSet = Callable[[Any], TrainChannel]
SAMPLE = Path(__file__).parents[2] / "data" / "coco"


def make(root: Path, out: Path, **wanted: Any) -> Subset:
    return write_subset(find_splits(root), out, Wanted(**wanted))


def document_of(root: Path, split: str = "train2017") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(TrainChannel(root).annotations(split).read_text())
    return content


def names(root: Path, split: str = "train2017") -> list[str]:
    return [image["file_name"] for image in document_of(root, split)["images"]]


def content(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "subset.json"
    }


def test_a_number_of_pictures_of_each_split_with_all_their_annotations(tmp_path: Path) -> None:
    made = make(SAMPLE, tmp_path / "out", images=4)
    assert [(one.name, one.images, one.source_images) for one in made.splits] == [
        ("train2017", 4, 11),
        ("val2017", 2, 2),
    ]
    old, new = document_of(SAMPLE), document_of(tmp_path / "out")
    ids = {image["id"] for image in new["images"]}
    assert [image for image in old["images"] if image["id"] in ids] == new["images"]
    kept = [one for one in old["annotations"] if one["image_id"] in ids]
    assert sorted(new["annotations"], key=lambda one: one["id"]) == sorted(
        kept, key=lambda one: one["id"]
    )
    assert new["categories"] == old["categories"]
    assert (new["info"], new["licenses"]) == (old["info"], old["licenses"])
    for name in names(tmp_path / "out"):
        copied = TrainChannel(tmp_path / "out").images("train2017") / name
        assert copied.read_bytes() == (SAMPLE / "train2017" / name).read_bytes()


def test_a_subset_of_the_sample_checks_clean_and_trains(tmp_path: Path) -> None:
    make(SAMPLE, tmp_path / "out", classes=("person", "toilet"), areas=("large", "medium"))
    assert list(examine(find_splits(tmp_path / "out")).findings) == []
    split = read_split(TrainChannel(tmp_path / "out"), "train2017")
    assert list(split.categories.values()) == ["person", "toilet"]
    assert split.skipped == ()
    assert all(len(record.labels) for record in split.records)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 11), st.integers(1, 11), st.integers(0, 5))
def test_a_subset_of_a_subset_is_the_smaller_subset(first: int, second: int, seed: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(SAMPLE, root / "a", images=first, seed=seed)
        make(root / "a", root / "b", images=second, seed=seed)
        make(SAMPLE, root / "c", images=min(first, second), seed=seed)
        assert content(root / "b") == content(root / "c")


def test_the_seed_decides_and_the_order_of_the_file_does_not(tmp_path: Path) -> None:
    first = {tuple(names_of_seed(tmp_path, seed)) for seed in range(5)}
    assert len(first) > 1
    document = document_of(SAMPLE)
    turned = tmp_path / "turned"
    (turned / "annotations").mkdir(parents=True)
    (turned / "train2017").symlink_to(SAMPLE / "train2017", target_is_directory=True)
    TrainChannel(turned).annotations("train2017").write_text(
        json.dumps({**document, "images": document["images"][::-1]})
    )
    make(turned, tmp_path / "out", images=3, seed=2)
    assert sorted(names(tmp_path / "out")) == sorted(names_of_seed(tmp_path, 2))


def names_of_seed(folder: Path, seed: int) -> list[str]:
    out = folder / f"seed-{seed}"
    if not out.exists():
        make(SAMPLE, out, images=3, seed=seed)
    return names(out)


def test_classes_leave_out_annotations_and_categories_of_others(tmp_path: Path) -> None:
    make(SAMPLE, tmp_path / "out", classes=("toilet", "81"))
    document = document_of(tmp_path / "out")
    assert [one["id"] for one in document["categories"]] == [70, 81]
    assert {one["category_id"] for one in document["annotations"]} == {70, 81}
    with_them = {
        one["image_id"]
        for one in document_of(SAMPLE)["annotations"]
        if one["category_id"] in {70, 81}
    }
    assert {image["id"] for image in document["images"]} == with_them


def test_renumbered_categories_begin_with_one(tmp_path: Path) -> None:
    make(SAMPLE, tmp_path / "out", classes=("toilet", "sink"), renumber=True)
    document = document_of(tmp_path / "out")
    assert [(one["id"], one["name"]) for one in document["categories"]] == [
        (1, "toilet"),
        (2, "sink"),
    ]
    assert {one["category_id"] for one in document["annotations"]} == {1, 2}


def test_area_chooses_pictures_and_keeps_all_their_annotations(tmp_path: Path) -> None:
    make(SAMPLE, tmp_path / "out", areas=("large",))
    old = document_of(SAMPLE)["annotations"]
    with_large = {one["image_id"] for one in old if one["area"] >= 96**2}
    document = document_of(tmp_path / "out")
    assert {image["id"] for image in document["images"]} == with_large
    assert len(document["annotations"]) == sum(one["image_id"] in with_large for one in old)


def test_named_pictures_are_in_and_the_number_is_filled_up_with_others(tmp_path: Path) -> None:
    wanted = frozenset(names(SAMPLE)[-2:])
    make(SAMPLE, tmp_path / "only", include=wanted)
    assert frozenset(names(tmp_path / "only")) == wanted
    assert not TrainChannel(tmp_path / "only").annotations("val2017").exists()
    make(SAMPLE, tmp_path / "more", include=wanted, images=5)
    assert len(names(tmp_path / "more")) == 5
    assert wanted < frozenset(names(tmp_path / "more"))


def test_linked_pictures_are_the_same_files(write_set: WriteSet, document: Any) -> None:
    channel = write_set(document)
    out = channel.root.parent / "out"
    write_subset(find_splits(channel.root), out, Wanted(images=1), hard_link=True)
    (name,) = names(out)
    assert (out / "train2017" / name).samefile(channel.images("train2017") / name)


def test_an_export_of_another_layout_becomes_one_that_training_reads(
    write_set: WriteSet, document: Any
) -> None:
    channel = write_set(document)
    folder = channel.images("train2017")
    channel.annotations("train2017").rename(folder / "_annotations.coco.json")
    channel.annotations("train2017").parent.rmdir()
    out = channel.root.parent / "out"
    make(channel.root, out, images=9)
    assert document_of(out) == document
    assert list(examine(find_splits(out)).findings) == []


def test_unusable_annotations_are_left_out_and_counted(write_set: WriteSet, document: Any) -> None:
    document["annotations"][0]["bbox"] = [1, 1, 0, 5]
    channel = write_set(document)
    made = make(channel.root, channel.root.parent / "out", images=9)
    assert made.splits[0].unusable == 1
    assert "1 unusable annotations left out" in "".join(made.lines())
    assert [one["id"] for one in document_of(channel.root.parent / "out")["annotations"]] == [2]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({}, "say which pictures"),
        ({"images": 0}, "must be 1 or more"),
        ({"classes": ("unicorn",)}, r"no category unicorn; there are 'airplane', 'apple'"),
        ({"include": frozenset({"x.jpg"})}, r"1 of 1 names are no file_name .* 'x\.jpg'"),
        ({"classes": ("zebra",)}, "no picture of .* has what is wanted"),
    ],
)
def test_what_cannot_be_chosen_is_one_error_and_leaves_nothing(
    wanted: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=says):
        make(SAMPLE, tmp_path / "out", **wanted)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../../secret.jpg", "gone.jpg"])
def test_pictures_that_are_not_in_the_folder_are_refused(
    name: str, write_set: WriteSet, document: Any
) -> None:
    document["images"][0]["file_name"] = name
    channel = write_set(document)
    (channel.root.parent / "secret.jpg").write_bytes(b"secret")
    with pytest.raises(UsageError, match="1 of 2 chosen pictures are not there"):
        make(channel.root, channel.root.parent / "out", images=9)
    assert not (channel.root.parent / "out").exists()


def test_a_set_whose_ids_are_there_twice_is_to_be_mended_first(
    write_set: WriteSet, document: Any
) -> None:
    document["images"].append({**document["images"][0], "file_name": "b.jpg"})
    channel = write_set(document)
    with pytest.raises(UsageError, match="Mend the set first"):
        make(channel.root, channel.root.parent / "out", images=9)


def test_a_set_does_not_go_among_the_pictures_of_another(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    channel = write_set(document)
    out = channel.images("train2017") / "out"
    with pytest.raises(UsageError, match=r"OUT .*out: is among the pictures of the set"):
        make(channel.root, out, images=1)
    assert not out.exists()
