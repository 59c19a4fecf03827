"""Runs that are killed at any moment: the next one goes on, and every byte is as it should be."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from training.data.pack.index import INDEX
from training.data.pack.record_file import read_records
from training.data.pack.target import Kind
from training.data.shapes import ShapesSet, make_shapes

ROOT = Path(__file__).parents[4]


def start(source: Path, out: Path, kind: Kind) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "training.data", "pack", str(source), str(out)),
            *("--shard-mib", "1", "--as", str(kind), "--jobs", "2"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def require_no_half_file(out: Path) -> None:
    """Whatever has a final name is whole."""
    for path in out.rglob("*.tar"):
        if path.name.startswith("."):
            continue
        assert path.stat().st_size % 512 == 0
        assert path.read_bytes()[-1024:] == bytes(1024), path
    for path in out.rglob("*.tfrecord"):
        with path.open("rb") as file:
            assert list(read_records(file))
    for index in out.rglob(INDEX):
        assert index.read_bytes().endswith(b"}\n")


def check_kills(
    tmp_path: Path,
    verify_set: Any,
    digests: Any,
    *,
    kinds: Sequence[Kind],
    kills: int,
    pictures: int,
    seed: int,
) -> None:
    """Kill runs at random moments, of each kind in turn, and let each set be finished."""
    rng = random.Random(seed)
    source = tmp_path / "source"
    make_shapes(source, ShapesSet(train=pictures, val=4, size=96))
    for picture in (source / "train2017").iterdir():
        # Some megabytes in few files.
        Image.effect_noise((420, 420), 60).save(picture, quality=95)

    path = source / "annotations" / "instances_train2017.json"
    document = json.loads(path.read_bytes())
    for image in document["images"]:
        image.update(width=420, height=420)
    path.write_text(json.dumps(document))
    took: dict[Kind, float] = {}
    expected: dict[Kind, Any] = {}
    for kind in kinds:
        begin = time.monotonic()
        assert start(source, tmp_path / f"whole-{kind}", kind).wait(120) == 0
        took[kind] = time.monotonic() - begin
        expected[kind] = digests(tmp_path / f"whole-{kind}")
    out = {kind: tmp_path / f"out-{kind}" for kind in kinds}
    killed = 0
    while killed < kills:
        kind = kinds[killed % len(kinds)]
        process = start(source, out[kind], kind)
        try:
            process.wait(rng.uniform(0.3, 1.0) * took[kind])
        except subprocess.TimeoutExpired:
            # The first process alone: those that it started must end by themselves.
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
        require_no_half_file(out[kind])
        if process.returncode == 0:
            assert digests(out[kind]) == expected[kind]
            shutil.rmtree(out[kind])
    for kind in kinds:
        finished = start(source, out[kind], kind)
        _, stderr = finished.communicate(timeout=120)
        assert finished.returncode == 0, stderr
        assert digests(out[kind]) == expected[kind]
        assert verify_set(source, out[kind], kind) == []


def test_a_run_that_is_killed_is_gone_on_with(
    tmp_path: Path, verify_set: Callable[..., list[Any]], digests: Any
) -> None:
    # The kind that has processes to end; the other is killed in the test below.
    kinds = [Kind.TFRECORD]
    check_kills(tmp_path, verify_set, digests, kinds=kinds, kills=1, pictures=12, seed=1)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_packing_survives_twenty_kills(
    tmp_path: Path, verify_set: Callable[..., list[Any]], digests: Any
) -> None:
    kinds = list(Kind)
    check_kills(tmp_path, verify_set, digests, kinds=kinds, kills=20, pictures=150, seed=2)
