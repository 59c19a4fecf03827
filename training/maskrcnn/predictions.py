"""Detections in pictures from anywhere, and the files that hold them.

`predictions.json` is a list in COCO's result format. `images.json` beside it is a COCO data set
without annotations: which picture has which id and size, the categories, and which pictures could
not be used. Together pycocotools reads them: `COCO("images.json").loadRes("predictions.json")`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from torch import Tensor

from training.data.threads import thread_pool
from training.errors import JobFailed, UsageError
from training.maskrcnn.ahead import ahead
from training.maskrcnn.data.pictures import BrokenPicture
from training.maskrcnn.detect import Detector
from training.maskrcnn.files import check_writable, write_result
from training.maskrcnn.found import Detection
from training.maskrcnn.photos import PICTURES, Frame, Opening, Photo, unique
from training.report.dataset import to_region
from training.report.overlay import draw_regions

READERS = 2
"""Threads that decode the next pictures while the model looks at one."""
AHEAD = 4
"""Pictures that are decoded before their turn."""

DRAWN_SIDES = (512, 4096)
"""Pixels: the long side of smaller and larger pictures is brought to it when they are drawn on."""
ZOOM_SIDE = 1200
"""Pixels: lines and letters of a picture this long are as thick as usual, of one twice as long
twice as thick."""
JPEG_QUALITY = 92


@dataclass(frozen=True)
class Seen:
    """A picture that the model has looked at."""

    photo: Photo
    frame: Frame
    detections: list[Detection]
    """The best first."""


@dataclass(frozen=True)
class Skipped:
    """A picture that cannot be used."""

    photo: Photo
    reason: str


class ImageIds:
    """The id of each picture: running numbers, or those of an annotation file."""

    def __init__(self, annotations: Path | None) -> None:
        """Read the annotation file, if there is one.

        Raises:
            UsageError: It is not one of COCO's.
        """
        self._source = annotations
        self._known = {} if annotations is None else _read_images(annotations)

    def id_of(self, photo: Photo, number: int, frame: tuple[int, int]) -> int:
        """Return a picture's id.

        Args:
            number: Which picture it is, from 1.
            frame: Its height and width.

        Raises:
            BrokenPicture: The annotation file does not have it, or has another size.
        """
        if self._source is None:
            return number
        entry = self._known.get(photo.name) or self._known.get(photo.path.name)
        if entry is None:
            raise BrokenPicture(f"{photo.path}: {self._source} has no picture of this name")
        told = (entry.get("height", frame[0]), entry.get("width", frame[1]))
        if told != frame:
            raise BrokenPicture(
                f"{photo.path}: is {frame[1]} x {frame[0]}, annotated as {told[1]} x {told[0]}"
            )
        return int(entry["id"])


def look_at(
    photos: Sequence[Photo], detector: Detector, opening: Opening, ids: ImageIds, *, score: float
) -> Iterator[Seen | Skipped]:
    """Detect in pictures, one after the other.

    Args:
        score: Detections below it are left out.
    """

    def decode(photo: Photo) -> tuple[tuple[int, int], Tensor]:
        size = opening.frame_of(photo)
        return size, opening.scaled(photo, size)

    with thread_pool(READERS) as pool:
        decoded = ahead(pool, decode, photos, depth=AHEAD)
        for number, (photo, decoding) in enumerate(zip(photos, decoded, strict=True), start=1):
            try:
                size, pixels = decoding.result()
                frame = Frame(ids.id_of(photo, number, size), *size)
            except BrokenPicture as error:
                yield Skipped(photo, str(error).removeprefix(f"{photo.path}: "))
                continue
            found = [one for one in detector.detect(frame, pixels) if one["score"] >= score]
            yield Seen(photo, frame, sorted(found, key=lambda one: -one["score"]))


class ResultFolder:
    """Where detections and drawings go; files of earlier runs are replaced."""

    def __init__(self, root: Path, categories: Mapping[int, str]) -> None:
        """Make the folder.

        Raises:
            UsageError: It cannot be made or written to.
            JobFailed: The disk is full.
        """
        self._root = root
        self._categories = categories
        self._taken: set[str] = set()
        self._detections: list[Detection] = []
        self._images: list[dict[str, Any]] = []
        self._skipped: list[dict[str, str]] = []
        check_writable(root, given=f"--output {root}")

    @property
    def predictions(self) -> Path:
        return self._root / "predictions.json"

    @property
    def images(self) -> Path:
        return self._root / "images.json"

    @property
    def pictures(self) -> int:
        """How many pictures were looked at."""
        return len(self._images)

    @property
    def detected(self) -> int:
        """How many detections there are."""
        return len(self._detections)

    def summary(self) -> dict[str, Any]:
        """Return what a script wants to know, as JSON has it."""
        return {
            "predictions": str(self.predictions),
            "images": str(self.images),
            "pictures": self.pictures,
            "detections": self.detected,
            "skipped": self._skipped,
        }

    def add(self, seen: Seen | Skipped, opening: Opening | None) -> None:
        """Take what came of a picture.

        Args:
            opening: How to open it for a drawing; None is for no drawing.

        Raises:
            JobFailed: The drawing cannot be written.
        """
        if isinstance(seen, Skipped):
            self._skipped.append({"file": str(seen.photo.path), "reason": seen.reason})
            return
        image: dict[str, Any] = {
            "id": seen.frame.image_id,
            "file_name": seen.photo.name,
            "width": seen.frame.width,
            "height": seen.frame.height,
        }
        if opening is not None:
            name = PurePosixPath(PICTURES, seen.photo.name).with_suffix(".jpg")
            image["drawn"] = unique(str(name), self._taken)
            self._draw(seen, opening, self._root / image["drawn"])
        self._images.append(image)
        self._detections += seen.detections

    def close(self) -> None:
        """Write both files.

        Raises:
            JobFailed: They cannot be written.
        """
        document = {
            "images": self._images,
            "annotations": [],
            "categories": [{"id": key, "name": name} for key, name in self._categories.items()],
            "skipped": self._skipped,
        }
        write_result(self.predictions, json.dumps(self._detections).encode())
        write_result(self.images, json.dumps(document, indent=1).encode())

    def _draw(self, seen: Seen, opening: Opening, path: Path) -> None:
        photo = opening.whole(seen.photo)
        frame = photo.size
        least, most = DRAWN_SIDES
        scale = min(max(least / max(frame), 1.0), most / max(frame))
        if scale != 1:
            photo = photo.resize([max(1, round(side * scale)) for side in frame])
        regions = [to_region(one, self._categories, with_box=True) for one in seen.detections]
        zoom = max(1, round(max(photo.size) / ZOOM_SIDE))
        drawn = draw_regions(photo, regions, frame, zoom=zoom)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            drawn.save(path, format="JPEG", quality=JPEG_QUALITY)
        except OSError as error:
            raise JobFailed(f"{path}: cannot be written ({error.strerror or error})") from error


def _read_images(annotations: Path) -> dict[str, Mapping[str, Any]]:
    """Return the entries of an annotation file's pictures by file name."""
    try:
        images = json.loads(annotations.read_text(encoding="utf-8"))["images"]
        return {str(image["file_name"]): {**image, "id": int(image["id"])} for image in images}
    except OSError as error:
        raise UsageError(f"--annotations {annotations}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"--annotations {annotations}: not in COCO's form, `images` with `id` and `file_name` "
            f"({error!r})"
        ) from error
