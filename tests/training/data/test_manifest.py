from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data.manifest import MANIFEST, Entry, Manifest, manifest_in, parse_manifest
from training.data.paths import problem_of_path
from training.errors import UsageError

ENTRIES = st.builds(
    Entry,
    path=st.text(min_size=1, max_size=20).filter(lambda path: problem_of_path(path) is None),
    size=st.integers(0, 2**63 - 1),
    sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
    etag=st.none() | st.text(max_size=40),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
)


@given(st.lists(ENTRIES, max_size=5))
def test_a_manifest_comes_back_from_its_bytes(entries: list[Entry]) -> None:
    manifest = Manifest.of(entries)
    assert parse_manifest(manifest.to_bytes(), "x") == manifest


@given(st.lists(ENTRIES, max_size=5, unique_by=lambda entry: entry.path))
def test_bytes_do_not_depend_on_the_order_of_files(entries: list[Entry]) -> None:
    assert Manifest.of(entries).to_bytes() == Manifest.of(reversed(entries)).to_bytes()


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_anything_else_is_one_usage_error_that_names_its_source(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"^s3://b/manifest\.json: not a manifest"):
        parse_manifest(data, "s3://b/manifest.json")


@given(JSON)
def test_files_of_any_other_form_are_one_usage_error(files: object) -> None:
    document = {"format": "mask-rcnn-data", "version": 1, "files": files}
    try:
        manifest = parse_manifest(json.dumps(document).encode(), "x")
    except UsageError:
        return
    assert manifest.files == ()


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a//b", ""])
def test_a_path_that_leaves_the_set_is_refused(path: str) -> None:
    entry = {"path": path, "size": 1, "sha256": "0" * 64, "etag": None}
    document = {"format": "mask-rcnn-data", "version": 1, "files": [entry]}
    with pytest.raises(UsageError, match=r"files\.0\.path"):
        parse_manifest(json.dumps(document).encode(), "x")


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_no_manifest(kind: str, tmp_path: Path) -> None:
    place = tmp_path / MANIFEST
    place.mkdir() if kind == "folder" else os.mkfifo(place)
    with pytest.raises(UsageError, match=r"manifest\.json: no file\. The name manifest\.json"):
        manifest_in(tmp_path)


def test_a_folder_without_a_manifest_has_none(tmp_path: Path) -> None:
    assert manifest_in(tmp_path) is None
