"""The cluster's register: whatever is in a file, it counts or is left out with a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node import registrations
from node.registrations import Registration, parse, read_all

ID = "i-0123456789abcdef0"
NODE = Registration(
    instance_id=ID,
    role="worker",
    address="10.0.0.7",
    slots=8,
    instance_type="p4d.24xlarge",
    zone="eu-central-1a",
    time=1_700_000_000.5,
    state="ready",
)


def test_what_a_node_writes_is_what_others_read(tmp_path: Path) -> None:
    registrations.write(tmp_path / "new", NODE)
    assert read_all(tmp_path / "new") == ([NODE], {})
    [file] = (tmp_path / "new").iterdir()
    assert file.name == f"{ID}.json"
    assert file.stat().st_mode & 0o777 == 0o644


def test_nothing_is_registered_where_nobody_ever_was(tmp_path: Path) -> None:
    assert read_all(tmp_path / "none") == ([], {})


def test_files_of_others_and_half_written_ones_are_passed_over(tmp_path: Path) -> None:
    registrations.write(tmp_path, NODE)
    content = (tmp_path / f"{ID}.json").read_bytes()
    (tmp_path / f".{ID}.json.tmp12").write_bytes(content)
    (tmp_path / "README.txt").write_text("hello")
    (tmp_path / "i-00000001.json").write_bytes(content[:40])
    (tmp_path / "i-00000002.json").mkdir()
    found, rejected = read_all(tmp_path)
    assert found == [NODE]
    assert rejected == {
        "i-00000001.json": "is no JSON, or only a part of it",
        "i-00000002.json": "[Errno 21] Is a directory: '%s'" % (tmp_path / "i-00000002.json"),
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"instance_id": "i-0aaaaaaaa"}, "not as the file's name"),
        ({"address": "10.0.0.7; reboot"}, "address: is no IPv4 address"),
        ({"address": "fe80::1"}, "address: is no IPv4 address"),
        ({"slots": -1}, "slots: is no number from 0 to 1024"),
        ({"slots": True}, "slots: is no number from 0 to 1024"),
        ({"slots": "8"}, "slots: is no number from 0 to 1024"),
        ({"state": "READY"}, "state: is 'READY', not ready or leaving or failed"),
        ({"role": "boss"}, "role: is 'boss', not head or worker"),
        ({"time": "now"}, "time: is no number of seconds"),
        ({"time": float("nan")}, "time: is no number of seconds"),
        ({"time": float("inf")}, "time: is no number of seconds"),
        ({"zone": "a\nb"}, "zone: is no short text"),
        ({"zone": None}, "zone: is no short text"),
    ],
)
def test_a_wrong_value_is_named(changes: dict[str, Any], message: str) -> None:
    content = json.dumps({**NODE.to_json(), **changes}).encode()
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        parse(content, ID)


def test_a_huge_file_is_not_read() -> None:
    with pytest.raises(ValueError, match="is larger than 65536 bytes"):
        parse(b" " * 70000, ID)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(content=st.binary(max_size=300) | json_values.map(lambda one: json.dumps(one).encode()))
def test_any_content_is_a_registration_or_a_reason(content: bytes) -> None:
    try:
        parse(content, ID)
    except ValueError as error:
        assert str(error)


@given(key=st.sampled_from(sorted(NODE.to_json())), value=json_values)
def test_any_value_of_any_key_is_taken_as_a_node_writes_it_or_refused(key: str, value: Any) -> None:
    content = json.dumps({**NODE.to_json(), key: value}).encode()
    try:
        found = parse(content, ID)
    except ValueError:
        return
    if key == "reason":
        assert replace(found, reason="") == NODE
    else:
        assert getattr(found, key) == value
        assert replace(found, **{key: getattr(NODE, key)}) == NODE


@given(cut=st.integers(0, len(json.dumps(NODE.to_json())) - 1))
def test_no_part_of_a_file_is_taken_for_the_whole(cut: int) -> None:
    content = json.dumps(NODE.to_json()).encode()
    with pytest.raises(ValueError, match="no JSON"):
        parse(content[:cut], ID)
