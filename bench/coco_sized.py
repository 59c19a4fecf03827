"""A synthetic annotation file of the size of COCO's train2017, for measuring by.

118,287 pictures, 860,001 annotations, 80 categories and about 450 MB of JSON, as the real one has:
https://cocodataset.org/#download
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

PICTURES = 118_287
ANNOTATIONS = 860_001
CROWDS_IN = 85
"""One annotation in so many is a crowd."""
FRAME = (640, 480)
SHAPES = 4_000
"""Different outlines; more of them would only take longer to write."""
PART_POINTS = (6, 42)
CATEGORY_IDS = [number for number in range(1, 91) if number % 9 != 0]


def write_coco_sized(
    path: Path, *, pictures: int = PICTURES, annotations: int = ANNOTATIONS, seed: int = 1
) -> None:
    """Write the file; the same arguments give the same bytes."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    with path.open("w", encoding="ascii") as file:
        file.write('{"info": {}, "licenses": [], "images": [')
        _write_list(file.write, _images(pictures))
        file.write('], "annotations": [')
        _write_list(file.write, _annotations(pictures, annotations, rng))
        file.write('], "categories": [')
        _write_list(file.write, _categories())
        file.write("]}\n")


def _write_list(write, items: Iterator[str]) -> None:  # type: ignore[no-untyped-def]
    separator = ""
    for item in items:
        write(separator + item)
        separator = ", "


def _images(pictures: int) -> Iterator[str]:
    width, height = FRAME
    for number in range(pictures):
        image_id = number * 4 + 9
        yield (
            f'{{"license": 3, "file_name": "{image_id:012d}.jpg", "height": {height}, '
            f'"width": {width}, "date_captured": "2013-11-14 17:02:52", "id": {image_id}}}'
        )


def _categories() -> Iterator[str]:
    for category_id in CATEGORY_IDS:
        yield f'{{"supercategory": "thing", "id": {category_id}, "name": "thing {category_id}"}}'


def _annotations(pictures: int, annotations: int, rng: random.Random) -> Iterator[str]:
    polygons = [_polygon(rng) for _ in range(SHAPES)]
    crowds = [_crowd(rng) for _ in range(20)]
    for number in range(annotations):
        is_crowd = number % CROWDS_IN == 0
        outline = rng.choice(crowds if is_crowd else polygons)
        # The first ones go once round, so that every picture has some.
        image = number if number < pictures else rng.randrange(pictures)
        yield (
            f'{{{outline}, "iscrowd": {int(is_crowd)}, "image_id": {image * 4 + 9}, '
            f'"category_id": {rng.choice(CATEGORY_IDS)}, "id": {number + 1}}}'
        )


def _polygon(rng: random.Random) -> str:
    width, height = rng.uniform(12, 300), rng.uniform(12, 250)
    left, top = rng.uniform(0, FRAME[0] - width), rng.uniform(0, FRAME[1] - height)
    points: list[float] = []
    for _ in range(rng.randint(*PART_POINTS)):
        points += [round(left + rng.random() * width, 2), round(top + rng.random() * height, 2)]
    box = [round(value, 2) for value in (left, top, width, height)]
    area = rng.uniform(0.3, 0.9) * width * height
    return f'"segmentation": {json.dumps([points])}, "area": {area}, "bbox": {json.dumps(box)}'


def _crowd(rng: random.Random) -> str:
    counts, left = [], FRAME[0] * FRAME[1]
    while left > 4000:
        counts.append(rng.randint(1, 2000))
        left -= counts[-1]
    counts.append(left)
    rle = json.dumps({"counts": counts, "size": [FRAME[1], FRAME[0]]})
    return f'"segmentation": {rle}, "area": 20000, "bbox": [10, 10, 400, 300]'
