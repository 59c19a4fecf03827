"""The cluster's register: what each node says of itself, one file a node on EFS.

A file is written by its node every few seconds and read by all; what is in it is never trusted.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import json_file

FRESH_S = 30
"""A node that has said nothing for longer is not counted on."""
STATES = ("ready", "leaving", "failed")

_FILE_NAME = re.compile(r"i-[0-9a-f]{8,17}\.json")
"""Not what is being written, nor what is nobody's."""
_LARGEST_BYTES = 65536
_MOST_SLOTS = 1024
_READERS = 32


@dataclass(frozen=True)
class Registration:
    """A node, as it says itself."""

    instance_id: str
    role: str
    """head or worker"""
    address: str
    """Its private IPv4 address."""
    slots: int
    """Training processes that it takes: its GPUs; 1 on a worker without any; 0 on such a head."""
    instance_type: str
    zone: str
    time: float
    """When it wrote this, by its own clock: seconds since 1970."""
    state: str
    """ready, leaving, or failed: its set-up"""
    reason: str = ""
    """Why it leaves or has failed."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def path_of(folder: Path, instance_id: str) -> Path:
    return folder / f"{instance_id}.json"


def write(folder: Path, registration: Registration) -> None:
    """Write one node's file, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    json_file.write(path_of(folder, registration.instance_id), registration.to_json())


def read_all(folder: Path) -> tuple[list[Registration], dict[str, str]]:
    """Return all registrations, and for each file that is none the reason.

    Raises:
        OSError: The folder is there but cannot be read.
    """
    try:
        files = sorted(file for file in folder.iterdir() if _FILE_NAME.fullmatch(file.name))
    except FileNotFoundError:
        return [], {}
    # Each file is a round trip to EFS or two, so that a thousand in a row would take seconds.
    with ThreadPoolExecutor(_READERS) as readers:
        results = list(readers.map(_read, files))
    found = [result for result in results if isinstance(result, Registration)]
    reasons = zip((file.name for file in files), results)
    return found, {name: result for name, result in reasons if isinstance(result, str)}


def _read(file: Path) -> Registration | str | None:
    """Return what one file says, or what is wrong with it; None where it is gone meanwhile."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST_BYTES + 1)
        return parse(content, file.stem)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return str(error)


def parse(content: bytes, instance_id: str) -> Registration:
    """Read one file's content.

    Raises:
        ValueError: It is not what a node writes; the message says what is wrong.
    """
    if len(content) > _LARGEST_BYTES:
        raise ValueError(f"is larger than {_LARGEST_BYTES} bytes")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError("is no JSON, or only a part of it") from error
    if not isinstance(value, dict):
        raise ValueError("is no object")
    registration = Registration(
        instance_id=_text(value, "instance_id"),
        role=_one_of(value, "role", ("head", "worker")),
        address=_address(value),
        slots=_slots(value),
        instance_type=_text(value, "instance_type"),
        zone=_text(value, "zone"),
        time=_time(value),
        state=_one_of(value, "state", STATES),
        reason=str(value.get("reason", ""))[:2000],
    )
    if registration.instance_id != instance_id:
        raise ValueError(f"instance_id: is {registration.instance_id!r}, not as the file's name")
    return registration


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not 0 < len(text) <= 100 or not text.isprintable():
        raise ValueError(f"{key}: is no short text")
    return text


def _one_of(value: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    text = _text(value, key)
    if text not in allowed:
        raise ValueError(f"{key}: is {text!r}, not {' or '.join(allowed)}")
    return text


def _address(value: Mapping[str, Any]) -> str:
    try:
        return str(ipaddress.IPv4Address(_text(value, "address")))
    except ValueError as error:
        raise ValueError("address: is no IPv4 address") from error


def _slots(value: Mapping[str, Any]) -> int:
    slots = value.get("slots")
    if type(slots) is not int or not 0 <= slots <= _MOST_SLOTS:
        raise ValueError(f"slots: is no number from 0 to {_MOST_SLOTS}")
    return slots


def _time(value: Mapping[str, Any]) -> float:
    moment = value.get("time")
    if not isinstance(moment, (int, float)) or isinstance(moment, bool):
        raise ValueError("time: is no number of seconds")
    if not abs(moment) <= 1e12:  # not a number, for one
        raise ValueError("time: is no number of seconds")
    return float(moment)
