from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from training.data.check import check_dataset
from training.layout import TrainChannel
from training.preflight.finding import Finding

WriteSet = Callable[[Any], TrainChannel]
SAMPLE = TrainChannel(Path(__file__).parents[2] / "data" / "coco")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["images", "annotations", "categories", "id", "file_name", "bbox"]),
            inner,
        )
    ),
    max_leaves=20,
)


def check(
    channel: TrainChannel, bad_annotations: Literal["stop", "skip"] = "stop"
) -> dict[str, Finding]:
    findings = list(check_dataset(channel, ["train2017"], bad_annotations=bad_annotations))
    by_code = {finding.code: finding for finding in findings}
    assert len(by_code) == len(findings), "one finding a kind"
    return by_code


def test_a_sound_set_has_no_finding(write_set: WriteSet, document: dict[str, Any]) -> None:
    assert check(write_set(document)) == {}


def test_the_coco_sample_is_sound_and_of_free_licences() -> None:
    splits = ["train2017", "val2017"]
    assert list(check_dataset(SAMPLE, splits)) == []
    readme = (SAMPLE.root / "README.md").read_text()
    for split in splits:
        document = json.loads(SAMPLE.annotations(split).read_text())
        images = document["images"]
        assert {image["license"] for image in images} <= {4, 5}
        assert all(image["flickr_url"] in readme for image in images)
        assert sorted(path.name for path in SAMPLE.images(split).iterdir()) == sorted(
            image["file_name"] for image in images
        )
        assert len(document["categories"]) == 80


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"", "annotations-not-json", "EOF"),
        (b"<html>Not found</html>", "annotations-not-json", "line 1"),
        (b'{"images": [', "annotations-not-json", "EOF"),
        (b"\xff\xfe\x00", "annotations-not-json", "not JSON"),
        (b"[" * 100_000, "annotations-not-json", "recursion"),
        ([], "annotations-not-coco", "a list, not an object"),
        ({"images": [], "annotations": []}, "annotations-not-coco", "categories must be a list"),
        (
            {"images": {}, "annotations": None, "categories": []},
            "annotations-not-coco",
            "images and annotations must be a list",
        ),
        ({"images": [], "annotations": [], "categories": []}, "dataset-empty", "is empty"),
    ],
)
def test_a_file_that_is_no_coco_set_is_one_finding(
    content: Any, code: str, says: str, write_set: WriteSet
) -> None:
    found = check(write_set(content))
    assert list(found) == [code]
    assert says in found[code].message
    assert found[code].severity == "error"
    assert found[code].path.endswith("annotations/instances_train2017.json")


def test_a_missing_annotation_file_is_named(tmp_path: Path) -> None:
    found = check(TrainChannel(tmp_path))
    assert found["annotations-missing"].path.endswith("annotations/instances_train2017.json")


def test_an_annotation_file_that_is_a_folder_is_named(tmp_path: Path) -> None:
    TrainChannel(tmp_path).annotations("train2017").mkdir(parents=True)
    assert "directory" in check(TrainChannel(tmp_path))["annotations-unreadable"].message


def test_ten_thousand_bad_boxes_are_one_finding_with_the_first_places(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    sound = document["annotations"][0]
    document["annotations"] += [
        {**sound, "id": 100 + number, "bbox": [1, 1, 0, 5]} for number in range(10_000)
    ]
    finding = check(write_set(document))["annotation-box-empty"]
    assert finding.message.startswith(
        "10,000 annotations whose box has no area: annotations[2] (id 100, image 1) "
        "bbox [1, 1, 0, 5]; annotations[3] (id 101"
    )
    assert "and 9,997 more" in finding.message


def test_bad_annotations_are_warnings_where_training_skips_them(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    document["annotations"][0]["bbox"] = [1, 1, 0, 5]
    channel = write_set(document)
    assert check(channel)["annotation-box-empty"].severity == "error"
    assert "bad_annotations=skip" in check(channel)["annotation-box-empty"].message
    assert check(channel, "skip")["annotation-box-empty"].severity == "warning"


def test_what_training_cannot_skip_stays_an_error(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    document["annotations"][1]["id"] = 1
    document["images"].append({**document["images"][0], "file_name": "c.jpg"})
    found = check(write_set(document), "skip")
    assert {code: finding.severity for code, finding in found.items()} == {
        "image-duplicate-id": "error",
        "annotation-duplicate-id": "error",
    }


def test_ids_that_are_there_twice_are_named_with_both_places(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    document["annotations"][1]["id"] = 1
    document["images"].append({**document["images"][0], "file_name": "c.jpg"})
    document["categories"].append({"id": 3, "name": "again"})
    found = check(write_set(document))
    assert (
        "annotations[1] (id 1, image 2) has the id of annotations[0]"
        in found["annotation-duplicate-id"].message
    )
    assert "id 1 at images[0] and [2]" in found["image-duplicate-id"].message
    assert "id 3 again at categories[1]" in found["category-duplicate-id"].message


@pytest.mark.parametrize(
    "image",
    [
        None,
        {"id": "1", "file_name": "a.jpg", "width": 4, "height": 3},
        {"id": 9, "file_name": "", "width": 4, "height": 3},
        {"id": 9, "file_name": "a.jpg", "width": 4.0, "height": 3},
        {"id": 9, "file_name": "a.jpg", "width": 4, "height": 0},
        {"id": 9, "file_name": "a.jpg", "width": 4},
    ],
)
def test_an_image_entry_with_a_wrong_value_is_named_by_its_place(
    image: Any, write_set: WriteSet, document: dict[str, Any]
) -> None:
    document["images"].append(image)
    assert "images[2]" in check(write_set(document))["image-malformed"].message


def test_a_set_without_a_usable_object_says_so(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    for annotation in document["annotations"]:
        annotation["iscrowd"] = 1
    assert list(check(write_set(document))) == ["dataset-no-objects"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(JSON)
def test_any_json_gives_findings_and_never_a_traceback(write_set: WriteSet, value: Any) -> None:
    found = check(write_set(value))
    assert found
    assert all(finding.message.isprintable() for finding in found.values())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=3), st.lists(JSON, max_size=3))
def test_any_lists_give_findings_and_never_a_traceback(
    write_set: WriteSet, images: Any, annotations: Any, categories: Any
) -> None:
    document = {"images": images, "annotations": annotations, "categories": categories}
    assert check(write_set(document))


def test_the_check_needs_no_torch_and_opens_pillow_for_pictures_only(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from training.layout import TrainChannel;"
        "from training.preflight.data import find;"
        f"list(find(TrainChannel(Path({str(tmp_path)!r})), ['train2017'], 'stop'));"
        "print({'torch', 'PIL', 'numpy', 'boto3'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.stdout == b"set()\n"
