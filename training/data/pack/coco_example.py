"""Pictures as the TF2 implementations read them, masks included.

The names and types are those of the converter that AWS's and NVIDIA's Mask R-CNN share, from
tensorflow/tpu (https://github.com/NVIDIA/DeepLearningExamples/tree/master/TensorFlow2/
Segmentation/MaskRCNN, dataset/create_coco_tf_record.py; read by object_detection/
tf_example_decoder.py). Unlike there, a box that leaves the picture is cut at its frame rather than
left out, and annotations that no trainer can use are left out.
"""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pycocotools import mask as coco_mask

from training.data.pack.example import Bytes, Feature, Floats, Integers, encode_example
from training.data.pack.plan import Member
from training.data.pack.record_file import HEAD_BYTES, frame
from training.data.pack.shard import Sample, read_member
from training.errors import PreflightError
from training.maskrcnn.data.masks import to_rle
from training.maskrcnn.data.table import Table

FORMATS = {"JPEG": "jpeg", "MPO": "jpeg", "PNG": "png", "GIF": "gif", "BMP": "bmp"}
"""Pillow's name to TensorFlow's, of what `tf.io.decode_image` reads."""


class CocoExamples:
    """Writes a tf.train.Example for each picture."""

    def __init__(self, folder: Path, table: Table) -> None:
        self._folder = folder
        self._table = table
        self._category_ids = list(table.categories)

    def sample(self, member: Member) -> Sample:
        content = encode_example(self.features(member))
        return Sample(frame(content), HEAD_BYTES, len(content))

    def end(self) -> bytes:
        return b""

    def features(self, member: Member) -> dict[str, Feature]:
        """Return a picture's features."""
        picture = read_member(self._folder, member)
        row = int(np.searchsorted(self._table.image_ids, member.image_id))
        height, width = int(self._table.heights[row]), int(self._table.widths[row])
        return {
            "image/height": Integers([height]),
            "image/width": Integers([width]),
            "image/filename": Bytes([member.name.encode("utf-8", "surrogatepass")]),
            "image/source_id": Bytes([str(member.image_id).encode()]),
            "image/key/sha256": Bytes([hashlib.sha256(picture).hexdigest().encode()]),
            "image/encoded": Bytes([picture]),
            "image/format": Bytes([_format_of(picture, self._folder / member.name)]),
            "image/caption": Bytes([]),
            **self._objects(row, height, width),
        }

    def _objects(self, row: int, height: int, width: int) -> dict[str, Feature]:
        found = slice(*self._table.span(row))
        left, top, right, bottom = self._table.boxes[found].astype(float).T
        categories = [self._category_ids[label - 1] for label in self._table.labels[found].tolist()]
        masks = [_draw(outline, (height, width)) for outline in self._table.outlines(row)]
        return {
            "image/object/bbox/xmin": Floats((left / width).tolist()),
            "image/object/bbox/xmax": Floats((right / width).tolist()),
            "image/object/bbox/ymin": Floats((top / height).tolist()),
            "image/object/bbox/ymax": Floats((bottom / height).tolist()),
            "image/object/class/text": Bytes(
                [self._table.categories[c].encode("utf-8", "surrogatepass") for c in categories]
            ),
            "image/object/class/label": Integers(categories),
            "image/object/is_crowd": Integers(self._table.is_crowd[found].astype(int).tolist()),
            "image/object/area": Floats(self._table.areas[found].tolist()),
            "image/object/mask": Bytes(masks),
        }


def _draw(outline: Any, size: tuple[int, int]) -> bytes:
    """Return a mask of 0 and 1 as a grey PNG."""
    drawn = np.ascontiguousarray(coco_mask.decode(to_rle(outline, size)))
    file = BytesIO()
    Image.fromarray(drawn).save(file, format="PNG")
    return file.getvalue()


def _format_of(picture: bytes, path: Path) -> bytes:
    try:
        with Image.open(BytesIO(picture), formats=tuple(set(FORMATS) - {"MPO"})) as image:
            return FORMATS[str(image.format)].encode()
    except Exception as error:  # Pillow raises many kinds for broken files.
        raise PreflightError(
            f"{path}: cannot be written to a TFRecord: it is no picture of a kind that TensorFlow "
            f"reads ({', '.join(sorted(set(FORMATS.values())))}). To write a cleaned copy: "
            "python -m training.data check --fix OUT"
        ) from error
