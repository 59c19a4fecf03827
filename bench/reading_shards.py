"""Shards against loose files where each opening of a file takes a millisecond.

The file system is this machine's with a library before it (LD_PRELOAD) that waits in open(): what
is measured is the number of openings, not some server.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench.timing import Command, Comparison, output_of, python
from training.data.pack.pack import pack
from training.data.pack.target import Kind
from training.data.splits import find_splits
from training.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
AT_MOST = 0.2
"""Of the time for loose files."""
OPEN_US = 1000
PICTURES = 1000
SIZES = 5_000, 200_000


def measure(scratch: Path, *, runs: int, progress: Callable[[str], None]) -> Comparison:
    """Read a thousand pictures from files of their own and from shards, in turn."""
    library = build_shim(scratch)
    loose = make_set(scratch / "loose", PICTURES)
    packed = scratch / "packed"
    pack(find_splits(loose), packed, kind=Kind.WEBDATASET, shard_mib=16, workers=1)
    loose_s: list[float] = []
    shards_s: list[float] = []
    for run in range(-1, runs):
        times = [read(folder, library) for folder in (loose, packed)]
        if run >= 0:
            loose_s.append(times[0])
            shards_s.append(times[1])
            progress(f"shards: pair {run + 1} of {runs}")
    return Comparison(
        Command(f"shards, {PICTURES:,} pictures", ()),
        Command("loose files", ()),
        tuple(shards_s),
        tuple(loose_s),
        AT_MOST,
    )


def build_shim(scratch: Path) -> Path:
    """Compile the library that slows opening down.

    Raises:
        UsageError: There is no C compiler.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise UsageError("bench.reading needs a C compiler: install gcc")
    library = scratch / "slow_open.so"
    source = Path(__file__).with_name("slow_open.c")
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )
    return library


def read(folder: Path, library: Path) -> float:
    """Return the seconds that reading all pictures takes in a process of its own."""
    slow = {
        "LD_PRELOAD": str(library),
        "SLOW_OPEN_BELOW": str(folder),
        "SLOW_OPEN_US": str(OPEN_US),
    }
    command = python("-m", "bench.read_pictures", str(folder))
    return float(
        output_of(command, label=f"bench.read_pictures {folder}", cwd=ROOT, variables=slow)
    )


def make_set(folder: Path, pictures: int) -> Path:
    """Write a set whose pictures are noise that nobody decodes."""
    rng = random.Random(1)  # noqa: S311 (no secret)
    images = folder / "train2017"
    images.mkdir(parents=True)
    (folder / "annotations").mkdir()
    entries = []
    for number in range(1, pictures + 1):
        name = f"{number:012d}.jpg"
        (images / name).write_bytes(rng.randbytes(rng.randint(*SIZES)))
        entries.append({"id": number, "file_name": name, "width": 640, "height": 480})
    document = {"images": entries, "annotations": [], "categories": [{"id": 1, "name": "thing"}]}
    (folder / "annotations" / "instances_train2017.json").write_text(json.dumps(document))
    return folder
