from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pycocotools import mask as coco_mask
from pycocotools.cocoeval import COCOeval

from bench.evaluation_set import make_evaluation_set
from bench.reference_evaluation import open_truth, reference_numbers
from training import algorithms
from training.maskrcnn import coco_eval
from training.maskrcnn.coco_eval import NAMES, RECALL_NAMES, mean_average_precision
from training.maskrcnn.data.coco import Split, read_split, read_table
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.store import LooseFiles
from training.maskrcnn.found import Detection, Found

Annotation = Callable[..., dict[str, Any]]
COCO_SAMPLE = Path(__file__).parents[2] / "data" / "coco"


def rle(box: tuple[int, int, int, int]) -> dict[str, Any]:
    left, top, right, bottom = box
    mask = np.zeros((20, 40), np.uint8)
    mask[top:bottom, left:right] = 1
    encoded = coco_mask.encode(np.asfortranarray(mask))
    return {"size": encoded["size"], "counts": encoded["counts"].decode()}


def detection(
    image_id: int, category_id: int, box: tuple[int, int, int, int], score: float = 0.9
) -> Detection:
    left, top, right, bottom = box
    return {
        "image_id": image_id,
        "category_id": category_id,
        "bbox": [left, top, right - left, bottom - top],
        "score": score,
        "segmentation": rle(box),
    }


@pytest.fixture
def split(coco_set: Any, annotation: Annotation) -> Split:
    """One cat of 8 x 8 pixels on the first of two pictures."""
    return read_split(coco_set.write([annotation()]), "train2017")


def evaluate(split: Split, detections: list[Detection]) -> dict[str, float]:
    return mean_average_precision(split.records, split.categories, Found.from_coco(detections))


def test_a_perfect_detection_scores_one(split: Split) -> None:
    values = evaluate(split, [detection(1, 3, (10, 5, 18, 13))])
    assert values["mAP(bbox)/IoU=0.5:0.95"] == pytest.approx(1)
    assert values["mAP(segm)/IoU=0.75"] == pytest.approx(1)
    assert values["mAP(segm)/small"] == pytest.approx(1)
    assert values["mAP(segm)/large"] == -1


def test_without_detections_metrics_are_zero_and_minus_one_where_there_is_no_truth(
    split: Split,
) -> None:
    values = evaluate(split, [])
    assert len(values) == 24
    for kind in ("bbox", "segm"):
        assert values[f"mAP({kind})/IoU=0.5"] == 0
        assert values[f"mAP({kind})/small"] == 0
        assert values[f"mAP({kind})/medium"] == -1
        assert values[f"mAR({kind})/detections=100"] == 0
        assert values[f"mAR({kind})/medium"] == -1


def test_without_truth_metrics_are_minus_one(coco_set: Any) -> None:
    empty = read_split(coco_set.write([]), "train2017")
    values = evaluate(empty, [detection(1, 3, (10, 5, 18, 13))])
    assert set(values.values()) == {-1}


def test_a_detection_in_a_crowd_is_no_mistake(coco_set: Any, annotation: Annotation) -> None:
    crowd = annotation(id=2, image_id=2, iscrowd=1, bbox=[0, 0, 40, 20], area=800)
    crowd["segmentation"] = {"size": [20, 40], "counts": [0, 800]}
    split = read_split(coco_set.write([annotation(), crowd]), "train2017")
    values = evaluate(
        split, [detection(1, 3, (10, 5, 18, 13), 0.5), detection(2, 3, (3, 3, 9, 9), 0.9)]
    )
    assert values["mAP(segm)/IoU=0.5"] == pytest.approx(1)


def test_boxes_alone_have_their_twelve_numbers(split: Split) -> None:
    (box,) = Found.from_coco([detection(1, 3, (10, 5, 18, 13))]).to_coco()
    del box["segmentation"]
    found = Found.from_coco([box], with_masks=False)
    values = mean_average_precision(split.records, split.categories, found, kinds=("bbox",))
    assert len(values) == 12
    assert values["mAP(bbox)/IoU=0.5:0.95"] == pytest.approx(1)
    assert values["mAR(bbox)/detections=1"] == pytest.approx(1)


def compare(document: dict[str, Any], detections: list[Detection], folder: Path) -> list[float]:
    """Return our 24 numbers, which must be those of pycocotools."""
    path = folder / "instances.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    table = read_table(path)
    records = Records.of(table, LooseFiles(folder))
    ours = mean_average_precision(records, table.categories, Found.from_coco(detections))
    order = [
        f"{kind}({task})/{name}"
        for task in ("bbox", "segm")
        for kind, names in (("mAP", NAMES), ("mAR", RECALL_NAMES))
        for name in names
    ]
    assert list(ours) == order
    numbers = list(ours.values())
    assert numbers == pytest.approx(reference_numbers(open_truth(path), detections), abs=1e-6)
    return numbers


HEIGHT, WIDTH = 160, 200
CATEGORIES = (2, 3, 90)


@st.composite
def drawn_boxes(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Left, top, right, bottom; small, medium and large ones."""
    width, height = draw(st.tuples(st.integers(2, WIDTH), st.integers(2, HEIGHT)))
    left = draw(st.integers(0, WIDTH - width))
    top = draw(st.integers(0, HEIGHT - height))
    return left, top, left + width, top + height


def rle_of(polygon: list[float]) -> dict[str, Any]:
    (encoded,) = coco_mask.frPyObjects([polygon], HEIGHT, WIDTH)
    return {"size": encoded["size"], "counts": encoded["counts"].decode()}


def polygon_of(box: tuple[int, int, int, int], *, is_triangle: bool) -> list[float]:
    left, top, right, bottom = box
    corners = [left, top, right, top, right, bottom, left, bottom]
    return [float(value) for value in (corners[:6] if is_triangle else corners)]


@st.composite
def drawn_annotations(draw: st.DrawFn) -> dict[str, Any]:
    box = draw(drawn_boxes())
    polygon = polygon_of(box, is_triangle=draw(st.booleans()))
    is_crowd = draw(st.sampled_from([0, 0, 0, 1]))
    rle: dict[str, Any] = rle_of(polygon)
    if draw(st.booleans()):
        drawn = coco_mask.decode(rle).ravel(order="F")
        edges = np.flatnonzero(np.diff(drawn.astype(int), prepend=0))
        rle["counts"] = np.diff(edges, prepend=0, append=drawn.size).tolist()
    area = float(coco_mask.area(rle_of(polygon)))
    return {
        "category_id": draw(st.sampled_from(CATEGORIES[:2])),
        "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]],
        # What it says counts, not what its outline has.
        "area": draw(st.sampled_from([area, 1024.0, 9216.0])),
        "iscrowd": is_crowd,
        "segmentation": rle if is_crowd else [polygon],
    }


@st.composite
def drawn_sets(draw: st.DrawFn) -> tuple[dict[str, Any], list[Detection]]:
    """A truth, with empty pictures and a category without objects, and detections, with ties."""
    images, truth = [], []
    detections: list[Detection] = []
    for image_id in draw(st.lists(st.integers(1, 10**12), min_size=1, max_size=4, unique=True)):
        images.append(
            {"id": image_id, "file_name": f"{image_id}.jpg", "height": HEIGHT, "width": WIDTH}
        )
        own = draw(st.lists(drawn_annotations(), max_size=5))
        truth += [{"image_id": image_id, **annotation} for annotation in own]
        near = [
            (x, y, x + width, y + height)
            for x, y, width, height in (annotation["bbox"] for annotation in own)
        ]
        wanted = st.one_of(drawn_boxes(), st.sampled_from(near)) if near else drawn_boxes()
        detections += [
            {
                "image_id": image_id,
                "category_id": draw(st.sampled_from(CATEGORIES)),
                "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]],
                "score": draw(st.sampled_from([0.1, 0.5, 0.5, 0.9])),
                "segmentation": rle_of(polygon_of(box, is_triangle=draw(st.booleans()))),
            }
            for box in draw(st.lists(wanted, max_size=8))
        ]
    for number, annotation in enumerate(truth, start=1):
        annotation["id"] = number
    document = {
        "images": images,
        "annotations": truth,
        "categories": [{"id": number, "name": f"thing {number}"} for number in CATEGORIES],
    }
    return document, detections


@settings(max_examples=60)
@given(drawn_sets())
def test_all_numbers_are_those_of_pycocotools(made: tuple[dict[str, Any], list[Detection]]) -> None:
    document, detections = made
    # pycocotools' own loader cannot read an empty list (cocodataset/cocoapi#675).
    assume(detections)
    with tempfile.TemporaryDirectory() as folder:
        compare(document, detections, Path(folder))


def test_more_than_a_hundred_detections_a_picture_are_cut_as_in_pycocotools(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    detections = make_evaluation_set(path, pictures=6)
    more = [{**d, "image_id": 1 + at % 2, "score": 0.5} for at, d in enumerate(detections)]
    assert sum(d["image_id"] == 1 for d in more) > 100
    assert max(compare(json.loads(path.read_text()), more, tmp_path)) > 0


@pytest.mark.parametrize("at_once", [7, 250])
def test_numbers_of_a_set_like_cocos_are_those_of_pycocotools(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_eval, "PICTURES_AT_ONCE", at_once)
    path = tmp_path / "made.json"
    made = make_evaluation_set(path, pictures=20)
    # As they come from three ranks.
    detections = [d for rank in range(3) for d in made if d["image_id"] % 3 == rank]
    numbers = compare(json.loads(path.read_text()), detections, tmp_path)
    assert 0.1 < numbers[0] < 0.9
    assert -1 not in numbers


@pytest.mark.parametrize("split", ["train2017", "val2017"])
def test_numbers_of_the_coco_sample_are_those_of_pycocotools(split: str, tmp_path: Path) -> None:
    document = json.loads((COCO_SAMPLE / "annotations" / f"instances_{split}.json").read_text())
    random = np.random.default_rng(0)
    sizes = {image["id"]: (image["height"], image["width"]) for image in document["images"]}
    detections = []
    for annotation in document["annotations"]:
        size = sizes[annotation["image_id"]]
        outline = annotation["segmentation"]
        if isinstance(outline, list):
            outline = [(np.array(part) + random.normal(0, 2)).tolist() for part in outline]
            encoded = coco_mask.merge(coco_mask.frPyObjects(outline, *size))
        else:
            encoded = coco_mask.frPyObjects(outline, *size)
        detections.append(
            {
                "image_id": annotation["image_id"],
                "category_id": annotation["category_id"],
                "bbox": (np.array(annotation["bbox"]) + random.normal(0, 2, 4)).tolist(),
                "score": float(random.random()),
                "segmentation": {"size": encoded["size"], "counts": encoded["counts"].decode()},
            }
        )
    assert 0.3 < compare(document, detections, tmp_path)[0] < 1


def reference_precision(path: Path, detections: list[Detection], kind: str) -> NDArray[np.float64]:
    """Return pycocotools' own: (10 thresholds, 101 recalls, K), all sizes, 100 detections."""
    truth = open_truth(path)
    other = "segmentation" if kind == "bbox" else "bbox"
    own = [{k: v for k, v in found.items() if k != other} for found in detections]
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = COCOeval(truth, truth.loadRes(own), kind)
        evaluation.evaluate()
        evaluation.accumulate()
    of_all: NDArray[np.float64] = evaluation.eval["precision"][:, :, :, 0, 2]
    return of_all


def check_categories(document: dict[str, Any], detections: list[Detection], folder: Path) -> None:
    """Compare each category's curves and averages with pycocotools', and their mean with mAP."""
    path = folder / "categories.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    table = read_table(path)
    records = Records.of(table, LooseFiles(folder))
    ours = coco_eval.compare(records, table.categories, Found.from_coco(detections))
    for kind, precision in ours.precision.items():
        theirs = reference_precision(path, detections, kind)
        for name, thresholds in (
            ("IoU=0.5:0.95", range(10)),
            ("IoU=0.5", range(1)),
            ("IoU=0.75", range(5, 6)),
        ):
            averages = theirs[list(thresholds)].mean(axis=(0, 1))
            assert precision.averages[name] == pytest.approx(averages, abs=1e-6)
            known = averages[averages > -1]
            mean = known.mean() if len(known) else -1
            assert ours.metrics[f"mAP({kind})/{name}"] == pytest.approx(mean, abs=1e-6)
        assert precision.curves["IoU=0.5"] == pytest.approx(theirs[0].T, abs=1e-6)
        assert precision.curves["IoU=0.75"] == pytest.approx(theirs[5].T, abs=1e-6)


@settings(max_examples=20)
@given(drawn_sets())
def test_each_category_has_the_precision_of_pycocotools(
    made: tuple[dict[str, Any], list[Detection]],
) -> None:
    document, detections = made
    assume(detections)
    with tempfile.TemporaryDirectory() as folder:
        check_categories(document, detections, Path(folder))


def test_eighty_categories_have_the_precision_of_pycocotools(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    detections = make_evaluation_set(path, pictures=20)
    check_categories(json.loads(path.read_text()), detections, tmp_path)


def test_recall_is_not_read_as_another_metric(split: Split) -> None:
    values = evaluate(split, [detection(1, 3, (10, 5, 18, 13))])
    lines = [f"{name}: {value:.6g}" for name, value in values.items() if name.startswith("mAR")]
    assert len(lines) == 12
    found = [
        (metric.name, line.partition(": ")[0])
        for line in lines
        for metric in algorithms.load("horovod").METRICS
        if re.search(metric.regex, line)
    ]
    assert found == [
        (name, name) for kind in ("bbox", "segm") for name in (f"mAR({kind})/detections=100",)
    ]
