"""Small zips of real pictures for the tests of download, and a place to download them to."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from training.data.download.catalogue import Contents, Item
from training.data.download.partial import Grain
from training.data.download.patience import Patience
from training.data.download.run import Done, Settings, download
from training.data.progress import SILENT, Progress

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "coco"

QUICK = Patience(
    connect_s=2,
    silence_s=0.5,
    tries=4,
    progress_bytes=1024,
    first_wait_s=0.01,
    longest_wait_s=0.05,
    longest_retry_after_s=2,
)
SMALL = Grain(piece_bytes=64 * 1024)
FREQUENT = Grain(piece_bytes=64 * 1024, note_s=0.02)


def pictures(folder: str = "train2017") -> dict[str, bytes]:
    """Return the real pictures of the sample, by their names in a zip."""
    return {
        f"{folder}/{path.name}": path.read_bytes()
        for path in sorted((SAMPLE / "train2017").iterdir())
    }


def zip_of(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return buffer.getvalue()


def item_of(
    data: bytes, addresses: Sequence[str], *, is_known: bool = True, files: int = 11
) -> Item:
    return Item(
        key="train",
        name="train2017.zip",
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest() if is_known else None,
        addresses=tuple(addresses),
        contents=Contents(folder="train2017", suffix=".jpg", files=files, bytes=len(data)),
    )


class Notes:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.titles: list[str] = []

    @contextmanager
    def progress(self, title: str, total_bytes: int) -> Iterator[Progress]:
        self.titles.append(title)
        yield SILENT

    def note(self, text: str) -> None:
        self.texts.append(text)


def fetch(item: Item, root: Path, notes: Notes | None = None, **settings: object) -> Done:
    options = {"patience": QUICK, "grain": SMALL, "connections": 4, **settings}
    return download([item], Settings(root, **options), notes or Notes())[0]  # type: ignore[arg-type]


def files_below(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def require_complete(root: Path, expected: Mapping[str, bytes]) -> None:
    """Every byte is right, and nothing else is there but the manifest."""
    found = files_below(root)
    assert found.pop("manifest.json")
    assert found.keys() == expected.keys()
    assert found == dict(expected)
