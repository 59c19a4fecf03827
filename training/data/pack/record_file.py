"""The frame of a TFRecord: length, its checksum, content, its checksum.

https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

import google_crc32c

_MASK_DELTA = 0xA282EAD8

HEAD_BYTES = 12


class BadRecord(Exception):
    """A record is cut off or damaged; the message says where."""


def frame(content: bytes) -> bytes:
    """Return a record of a TFRecord file."""
    length = struct.pack("<Q", len(content))
    return b"".join([length, _checksum(length), content, _checksum(content)])


def read_records(file: BinaryIO) -> Iterator[bytes]:
    """Yield the contents of a file's records.

    Raises:
        BadRecord: The file is cut off, or a checksum is wrong.
    """
    while head := file.read(HEAD_BYTES):
        at = file.tell() - len(head)
        if len(head) < HEAD_BYTES or head[8:] != _checksum(head[:8]):
            raise BadRecord(f"byte {at}: no head of a record")
        (length,) = struct.unpack("<Q", head[:8])
        content, check = file.read(length), file.read(4)
        if len(content) < length or check != _checksum(content):
            raise BadRecord(f"byte {at}: the record is cut off, or its checksum is wrong")
        yield content


def _checksum(content: bytes) -> bytes:
    """Return the CRC-32C, turned and shifted: content may hold checksums itself."""
    crc = google_crc32c.value(content)
    turned = ((crc >> 15) | (crc << 17)) & 0xFFFFFFFF
    return struct.pack("<I", (turned + _MASK_DELTA) & 0xFFFFFFFF)
