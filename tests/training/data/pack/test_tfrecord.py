from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco_mask
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New

from training.data.pack.example import Bytes, Floats, Integers, encode_example
from training.data.pack.record_file import BadRecord, frame, read_records
from training.data.pack.target import Kind
from training.errors import PreflightError

FIELD = descriptor_pb2.FieldDescriptorProto


def message(file: Any, name: str, *fields: tuple[str, int, int, bool, str]) -> None:
    """Describe a message; each field is name, number, type, whether it repeats, type's name."""
    described = file.message_type.add(name=name)
    for field, number, kind, repeats, type_name in fields:
        label = FIELD.LABEL_REPEATED if repeats else FIELD.LABEL_OPTIONAL
        described.field.add(
            name=field, number=number, type=kind, label=label, type_name=type_name or None
        )


@pytest.fixture(scope="session")
def example_class() -> Any:
    """tf.train.Example for Google's protobuf library, by example.proto and feature.proto."""
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="t", syntax="proto3")
    message(file, "BytesList", ("value", 1, FIELD.TYPE_BYTES, True, ""))
    message(file, "FloatList", ("value", 1, FIELD.TYPE_FLOAT, True, ""))
    message(file, "Int64List", ("value", 1, FIELD.TYPE_INT64, True, ""))
    message(
        file,
        "Feature",
        ("bytes_list", 1, FIELD.TYPE_MESSAGE, False, ".t.BytesList"),
        ("float_list", 2, FIELD.TYPE_MESSAGE, False, ".t.FloatList"),
        ("int64_list", 3, FIELD.TYPE_MESSAGE, False, ".t.Int64List"),
    )
    message(
        file,
        "Entry",
        ("key", 1, FIELD.TYPE_STRING, False, ""),
        ("value", 2, FIELD.TYPE_MESSAGE, False, ".t.Feature"),
    )
    message(file, "Features", ("feature", 1, FIELD.TYPE_MESSAGE, True, ".t.Entry"))
    message(file, "Example", ("features", 1, FIELD.TYPE_MESSAGE, False, ".t.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Example"))


@pytest.fixture(scope="session")
def parse(example_class: Any) -> Callable[[bytes], dict[str, list[Any]]]:
    def run(content: bytes) -> dict[str, list[Any]]:
        example = example_class.FromString(content)
        return {
            entry.key: list(
                [*entry.value.bytes_list.value]
                or [*entry.value.float_list.value]
                or [*entry.value.int64_list.value]
            )
            for entry in example.features.feature
        }

    return run


def independent_records(path: Path) -> Iterator[bytes]:
    """Read with TensorBoard's reader, which checks both checksums."""
    reader = PyRecordReader_New(str(path))
    while True:
        try:
            reader.GetNext()
        except Exception as end:
            assert type(end).__name__ == "OutOfRangeError", end
            return
        yield reader.record()


# RFC 3720, B.4, gives the CRC-32C of 32 zeros; the mask is that of TensorFlow's
# core/lib/hash/crc32c.h.
def test_a_record_has_the_bytes_that_the_specification_gives() -> None:
    record = frame(bytes(32))
    crc = 0x8A9136AA
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert record[:8] == (32).to_bytes(8, "little")
    assert record[12:44] == bytes(32)
    assert record[44:] == masked.to_bytes(4, "little")


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_records_are_read_back(contents: Sequence[bytes]) -> None:
    file = BytesIO(b"".join(map(frame, contents)))
    assert list(read_records(file)) == contents


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_any_damaged_byte_is_found(place: int, change: int) -> None:
    whole = bytearray(frame(b"some content") + frame(b"more"))
    whole[place % len(whole)] ^= change
    with pytest.raises(BadRecord):
        list(read_records(BytesIO(whole)))


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.one_of(
            st.lists(st.binary(max_size=200), min_size=1, max_size=3).map(Bytes),
            st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=40).map(Floats),
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9).map(Integers),
        ),
        max_size=5,
    )
)
def test_an_example_is_what_protobuf_reads(parse: Any, features: dict[str, Any]) -> None:
    expected = {name: list(feature.values) for name, feature in features.items()}
    assert parse(encode_example(features)) == expected


def test_empty_lists_are_there_and_empty(parse: Any) -> None:
    content = encode_example({"a": Bytes([]), "b": Floats([]), "c": Integers([])})
    assert parse(content) == {"a": [], "b": [], "c": []}


@pytest.fixture
def examples(
    source: Path, tmp_path: Path, pack_set: Any, parse: Any
) -> dict[int, dict[str, list[Any]]]:
    """The sample's train2017 by image id, packed and read back by other programs' readers."""
    pack_set(source, tmp_path / "out", Kind.TFRECORD)
    parsed = [
        parse(record)
        for path in sorted((tmp_path / "out").glob("train*.tfrecord"))
        for record in independent_records(path)
    ]
    return {int(features["image/source_id"][0]): features for features in parsed}


def test_every_picture_goes_round(source: Path, examples: Any) -> None:
    document = json.loads((source / "annotations/instances_train2017.json").read_bytes())
    assert examples.keys() == {image["id"] for image in document["images"]}
    names = {category["id"]: category["name"].encode() for category in document["categories"]}
    for image in document["images"]:
        features = examples[image["id"]]
        picture = (source / "train2017" / image["file_name"]).read_bytes()
        assert features["image/encoded"] == [picture]
        assert features["image/key/sha256"] == [hashlib.sha256(picture).hexdigest().encode()]
        assert features["image/format"] == [b"jpeg"]
        assert features["image/filename"] == [image["file_name"].encode()]
        assert features["image/height"] == [image["height"]]
        assert features["image/width"] == [image["width"]]
        mine = [a for a in document["annotations"] if a["image_id"] == image["id"]]
        assert features["image/object/class/label"] == [a["category_id"] for a in mine]
        assert features["image/object/class/text"] == [names[a["category_id"]] for a in mine]
        assert features["image/object/is_crowd"] == [a["iscrowd"] for a in mine]
        assert features["image/object/area"] == pytest.approx([a["area"] for a in mine])


def test_boxes_are_parts_of_the_picture(source: Path, examples: Any) -> None:
    document = json.loads((source / "annotations/instances_train2017.json").read_bytes())
    for image in document["images"]:
        mine = [a["bbox"] for a in document["annotations"] if a["image_id"] == image["id"]]
        features = examples[image["id"]]
        for side, begin, size in (("x", 0, image["width"]), ("y", 1, image["height"])):
            low, high = (features[f"image/object/bbox/{side}{end}"] for end in ("min", "max"))
            assert low == pytest.approx([box[begin] / size for box in mine], abs=1e-6)
            assert high == pytest.approx(
                [min(box[begin] + box[begin + 2], size) / size for box in mine], abs=1e-6
            )


def test_masks_are_grey_pngs_of_0_and_1_as_coco_draws_them(source: Path, examples: Any) -> None:
    document = json.loads((source / "annotations/instances_train2017.json").read_bytes())
    for image in document["images"]:
        size = (image["height"], image["width"])
        mine = [a for a in document["annotations"] if a["image_id"] == image["id"]]
        for annotation, png in zip(mine, examples[image["id"]]["image/object/mask"], strict=True):
            mask = Image.open(io.BytesIO(png))
            assert (mask.format, mask.mode) == ("PNG", "L")
            rle = coco_mask.frPyObjects(annotation["segmentation"], *size)
            drawn = coco_mask.decode(rle if isinstance(rle, dict) else coco_mask.merge(rle))
            assert (np.asarray(mask) == drawn).all()


def test_annotations_that_no_trainer_can_use_are_left_out(
    source: Path, tmp_path: Path, pack_set: Any, parse: Any, change_document: Any
) -> None:
    first = json.loads((source / "annotations/instances_train2017.json").read_bytes())
    bad = first["annotations"][0]
    change_document(lambda document: document["annotations"][0].update(bbox=[5, 5, 0, 9]))
    pack_set(source, tmp_path / "out", Kind.TFRECORD)
    count = sum(
        len(parse(record)["image/object/class/label"])
        for path in (tmp_path / "out").glob("train*.tfrecord")
        for record in independent_records(path)
    )
    assert count == len(first["annotations"]) - 1, bad


def test_a_picture_that_tensorflow_does_not_read_is_told(
    source: Path, tmp_path: Path, pack_set: Any
) -> None:
    picture = source / "train2017" / "000000006818.jpg"
    Image.open(picture).save(picture, format="WEBP")
    with pytest.raises(PreflightError, match=r"000000006818\.jpg: cannot be written"):
        pack_set(source, tmp_path / "out", Kind.TFRECORD)
