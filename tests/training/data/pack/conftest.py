from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from training.data.pack.pack import Packed, pack
from training.data.pack.plan import make_plan
from training.data.pack.target import Kind, Target
from training.data.pack.verify import Difference, verify
from training.data.splits import find_splits

COCO = Path(__file__).parents[3] / "data" / "coco"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The COCO sample: 11 pictures of 1.8 MB to train on, 2 to validate."""
    return Path(shutil.copytree(COCO, tmp_path / "source"))


@pytest.fixture
def pack_set() -> Callable[..., list[Packed]]:
    def run(
        source: Path,
        out: Path,
        kind: Kind = Kind.WEBDATASET,
        *,
        mib: int = 1,
        workers: int | None = None,
    ) -> list[Packed]:
        # A second process takes a second to start.
        workers = workers or (2 if kind is Kind.WEBDATASET else 1)
        return pack(find_splits(source), out, kind=kind, shard_mib=mib, workers=workers)

    return run


@pytest.fixture
def verify_set() -> Callable[..., list[Difference]]:
    def run(source: Path, out: Path, kind: Kind = Kind.WEBDATASET) -> list[Difference]:
        return [
            difference
            for split in find_splits(source)
            for difference in verify(
                Target(out, split.name, kind), make_plan(split, kind=kind, shard_mib=1)
            )
        ]

    return run


@pytest.fixture
def digests() -> Callable[[Path], Mapping[str, str]]:
    """Of every file below a folder, by path."""

    def read(folder: Path) -> Mapping[str, str]:
        return {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    return read


@pytest.fixture
def change_document(source: Path) -> Callable[[Callable[[dict[str, Any]], None]], None]:
    """Change the annotations of train2017."""

    def run(change: Callable[[dict[str, Any]], None]) -> None:
        path = source / "annotations" / "instances_train2017.json"
        document = json.loads(path.read_bytes())
        change(document)
        path.write_text(json.dumps(document))
        os.utime(path, (0, 0))

    return run
