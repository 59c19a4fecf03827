"""Reads the one kind of object that helm sends as protobuf: the Secret that holds its record.

Field numbers: https://github.com/kubernetes/api/blob/master/core/v1/generated.proto and its
neighbours for ObjectMeta and Unknown.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

MAGIC = b"k8s\0"


def read_secret(body: bytes) -> dict[str, Any]:
    """Return a Secret as JSON has it; an empty object for anything else, such as options."""
    unknown = dict(_fields(body.removeprefix(MAGIC)))
    if dict(_fields(unknown.get(1, b""))).get(2) != b"Secret":
        return {}
    secret: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "data": {}}
    for number, value in _fields(unknown[2]):
        if number == 1:
            secret["metadata"] = _metadata(value)
        elif number == 2:
            key, data = _entry(value)
            secret["data"][key] = base64.b64encode(data).decode()
        elif number == 3:
            secret["type"] = value.decode()
    return secret


def _metadata(message: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, value in _fields(message):
        if name := {1: "name", 2: "generateName", 3: "namespace"}.get(number):
            if value:
                found[name] = value.decode()
        elif name := {11: "labels", 12: "annotations"}.get(number):
            key, text = _entry(value)
            found.setdefault(name, {})[key] = text.decode()
    return found


def _entry(message: bytes) -> tuple[str, bytes]:
    entry = dict(_fields(message))
    return entry.get(1, b"").decode(), entry.get(2, b"")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each field that has a length; numbers are left out."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        if tag & 7 == 0:
            _, place = _varint(message, place)
            continue
        assert tag & 7 == 2, "no such field in a Secret"
        length, place = _varint(message, place)
        yield tag >> 3, message[place : place + length]
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
