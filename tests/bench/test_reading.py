from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import max_pool2d

from bench.annotation_memory import holding, pss_of
from bench.coco_sized import write_coco_sized
from bench.reading_shards import build_shim, make_set, read
from bench.reading_speed import Case, enlarge, our_pictures, their_pictures
from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.sampler import Draw

ROOT = Path(__file__).parents[2]
COCO = TrainChannel(ROOT / "tests" / "data" / "coco")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def one_thread() -> None:
    torch.set_num_threads(1)


def pairs(
    case: Case, flip_probability: float, *, at_file_size: bool = False
) -> Iterator[tuple[Any, Any, list[int]]]:
    """Yield our picture and the reference's, of those without crowds; or only of those that keep
    the size of their file."""
    ours, theirs = (read(case, flip_probability) for read in (our_pictures, their_pictures))
    records = read_split(case.channel, "train2017").records.with_objects()
    ids = list(read_split(case.channel, "train2017").categories)
    for index in range(len(theirs)):
        record = records[index]
        is_wanted = not at_file_size or min(record.height, record.width) == case.short_side
        if is_wanted and not record.is_crowd.any():
            yield ours[Draw(index, 0)], theirs[index], ids


@pytest.mark.parametrize("flip_probability", [0, 1])
def test_at_the_size_of_the_file_all_is_as_the_reference_has_it(
    one_thread: None, flip_probability: int, tmp_path: Path
) -> None:
    compared = 0
    for short_side in (427, 480, 426):
        case = Case("", COCO, short_side, 10_000)
        for mine, (pixels, target), ids in pairs(case, flip_probability, at_file_size=True):
            assert torch.allclose(mine.pixels / 255, pixels, rtol=0, atol=1e-6)
            assert torch.equal(mine.target.masks.whole(), target["masks"])
            assert torch.allclose(mine.target.boxes, target["boxes"], atol=1e-3)
            assert [ids[label - 1] for label in mine.target.labels] == target["labels"].tolist()
            compared += 1
    assert compared >= 5


@pytest.mark.parametrize(
    ("sides", "flip_probability"),
    [pytest.param((800, 1333), 0, marks=pytest.mark.soak), ((320, 533), 1)],
)
def test_at_other_sizes_pixels_differ_by_a_level_and_masks_at_their_edges(
    one_thread: None, sides: tuple[int, int], flip_probability: int
) -> None:
    for mine, (pixels, target), _ in pairs(Case("", COCO, *sides), flip_probability):
        # The reference cuts fractions of a pixel off the longer side.
        height, width = (
            min(one, other)
            for one, other in zip(mine.pixels.shape[1:], pixels.shape[1:], strict=True)
        )
        assert abs(mine.pixels.shape[1] - pixels.shape[1]) <= 1
        assert abs(mine.pixels.shape[2] - pixels.shape[2]) <= 1
        if mine.pixels.shape == pixels.shape:
            assert (mine.pixels.float() - pixels * 255).abs().max() <= 1.01
        assert torch.allclose(mine.target.boxes, target["boxes"], atol=1.5)
        ours, theirs = (
            masks[:, :height, :width].bool()
            for masks in (mine.target.masks.whole(), target["masks"])
        )
        # No further than four pixels from an edge of the object or of the picture: there a polygon
        # that ends at the frame may or may not have the last column.
        outer, inner = (max_pool2d(mask.float()[None], 9, 1, 4)[0] for mask in (theirs, ~theirs))
        far = ours & (outer == 0) | ~ours & (inner == 0)
        assert far[:, 4:-4, 4:-4].sum() <= 1


def test_pictures_decoded_at_a_part_of_their_size_look_the_same(
    one_thread: None, tmp_path: Path
) -> None:
    large = enlarge(COCO, TrainChannel(tmp_path / "large"), 4)
    for mine, (pixels, _), _ in pairs(Case("", large, 320, 533), 0):
        if mine.pixels.shape == pixels.shape:
            assert (mine.pixels.float() - pixels * 255).abs().mean() < 1.5


def test_shards_are_opened_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training.data.pack.pack import pack
    from training.data.pack.target import Kind
    from training.data.splits import find_splits

    monkeypatch.setattr("bench.reading_shards.SIZES", (500, 900))
    monkeypatch.setattr("bench.reading_shards.OPEN_US", 20_000)
    library = build_shim(tmp_path)
    loose = make_set(tmp_path / "loose", 40)
    pack(find_splits(loose), tmp_path / "packed", kind=Kind.WEBDATASET, shard_mib=1, workers=1)
    assert read(loose, library) > 0.8
    assert read(tmp_path / "packed", library) < 0.8


def test_ranks_and_workers_share_one_copy_of_the_annotations(tmp_path: Path) -> None:
    annotations = tmp_path / "instances.json"
    write_coco_sized(annotations, pictures=3000, annotations=22_000)
    assert annotations.stat().st_size > 2**23
    tables = tmp_path / "tables"
    with holding(annotations, tables, [0]) as alone:
        one, _ = pss_of(alone, tables)
    with holding(annotations, tables, [2, 2]) as processes:
        together, _ = pss_of(processes, tables)
    assert len(processes) == 6
    assert 1 < one < 10
    assert together <= 1.1 * one


def test_the_synthetic_file_is_sound_and_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        write_coco_sized(tmp_path / name, pictures=50, annotations=400)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "bench.reading_scale",
            str(tmp_path / "one.json"),
            str(tmp_path / "tables"),
        ],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"annotations": 400' in done.stdout
    assert np.isfinite(float(done.stdout.split('"total_cpu_s": ')[1].split(",")[0]))
