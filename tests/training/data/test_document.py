from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from training.data.document import NotCoco, read_document

EMPTY = {"images": [], "annotations": [], "categories": []}


def write(folder: Path, content: bytes) -> Path:
    path = folder / "instances_train.json"
    path.write_bytes(content)
    return path


def test_lists_and_other_keys_are_read_apart(tmp_path: Path) -> None:
    content: dict[str, Any] = {"info": {"year": 2017}, **EMPTY, "images": [1, None]}
    document = read_document(write(tmp_path, json.dumps(content).encode()))
    assert (document.images, document.annotations, document.categories) == ([1, None], [], [])
    assert document.rest == {"info": {"year": 2017}}
    assert document.notes == ()


@pytest.mark.parametrize(
    ("encoding", "says"),
    [
        ("utf-8-sig", "begins with a byte order mark"),
        ("utf-16", "is UTF-16"),
        ("utf-16-le", "is UTF-16-LE"),
        ("utf-32", "is UTF-32"),
    ],
)
def test_other_encodings_are_read_with_a_warning(encoding: str, says: str, tmp_path: Path) -> None:
    document = read_document(write(tmp_path, json.dumps({**EMPTY, "info": "ü"}).encode(encoding)))
    assert document.rest == {"info": "ü"}
    (note,) = document.notes
    assert (note.code, note.severity) == ("annotations-encoding", "warning")
    assert says in note.message


def test_a_list_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    raw = b'{"images": [1], "annotations": [], "categories": [], "images": []}'
    (note,) = read_document(write(tmp_path, raw)).notes
    assert (note.code, note.severity) == ("annotations-key-twice", "error")
    assert note.message.startswith("images stands in the file more than once")


def test_a_name_of_a_list_elsewhere_in_the_file_is_no_second_list(tmp_path: Path) -> None:
    content = {**EMPTY, "info": {"images": ["images", "annotations"]}}
    assert read_document(write(tmp_path, json.dumps(content).encode())).notes == ()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "annotations-not-json"),
        (b"[" * 100_000, "annotations-not-json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "annotations-not-json"),
        (b'{"images": "\\ud800"}', "annotations-not-json"),
        (b"\xff\xfe\xff", "annotations-not-json"),
        (b"\xef\xbb\xbf", "annotations-not-json"),
        (b"\x00\x00\x00\x00", "annotations-not-json"),
        (b"null", "annotations-not-coco"),
        (b'"images"', "annotations-not-coco"),
        (b"NaN", "annotations-not-coco"),
        (b'{"images": {}}', "annotations-not-coco"),
    ],
)
def test_what_is_not_coco_is_one_finding(content: bytes, code: str, tmp_path: Path) -> None:
    with pytest.raises(NotCoco) as failed:
        read_document(write(tmp_path, content))
    assert failed.value.finding.code == code
    assert failed.value.finding.path.endswith("instances_train.json")
