"""tf.train.Example messages, written without TensorFlow.

The message is a map of names to lists of bytes, floats or integers, in protocol buffers' wire
format (https://protobuf.dev/programming-guides/encoding/):

    Example   { Features features = 1; }
    Features  { map<string, Feature> feature = 1; }
    Feature   { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; }
    each list { repeated ... value = 1; }       (numbers packed)
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LENGTH_DELIMITED = 2
_BYTES, _FLOATS, _INTEGERS = 1, 2, 3


@dataclass(frozen=True)
class Bytes:
    """A list of byte strings."""

    values: Sequence[bytes]


@dataclass(frozen=True)
class Floats:
    """A list of numbers, kept in 32 bits."""

    values: Sequence[float]


@dataclass(frozen=True)
class Integers:
    """A list of integers of 64 bits."""

    values: Sequence[int]


Feature = Bytes | Floats | Integers


def encode_example(features: Mapping[str, Feature]) -> bytes:
    """Return a serialized tf.train.Example; its features come by name."""
    entries = [
        _field(1, _field(1, name.encode()) + _field(2, _encode(features[name])))
        for name in sorted(features)
    ]
    return _field(1, b"".join(entries))


def _encode(feature: Feature) -> bytes:
    if isinstance(feature, Bytes):
        return _field(_BYTES, b"".join(_field(1, value) for value in feature.values))
    if isinstance(feature, Floats):
        packed = struct.pack(f"<{len(feature.values)}f", *feature.values)
        return _field(_FLOATS, _field(1, packed) if packed else b"")
    packed = b"".join(_varint(value & 0xFFFF_FFFF_FFFF_FFFF) for value in feature.values)
    return _field(_INTEGERS, _field(1, packed) if packed else b"")


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Return seven bits a byte, the lowest first; bit 7 says that more follow."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
