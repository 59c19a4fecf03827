"""A job as the launcher sends it (training/platforms/ec2/ writes it), version 1."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from .refusal import Refused

VERSION = 1
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-]{0,62}")
ALGORITHMS = ("horovod", "tensorpack", "aws-samples")
DISTRIBUTIONS = ("mpi", "torchrun", "elastic")
MOST_PROCESSES = 64
MOST_WORKERS = 10_000

_FOLDER = re.compile(r"(/[A-Za-z0-9._+@=-]+)+")
"""Plain names only: they go to container engines, which read `:` and `,`."""
_S3 = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\s\x00-\x1f]*)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HYPERPARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,255}")
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]{1,511}")
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Request:
    """What is to run. Times are in seconds."""

    version: int
    name: str
    fingerprint: str
    """Tells a request that came twice from another one under the same name."""
    algorithm: str
    distribution: str
    image: str | None
    """None: it runs in the node's virtual environment."""
    workers: int
    """Nodes of the worker group."""
    least_workers: int
    processes_per_host: int
    hyperparameters: Mapping[str, str]
    environment: Mapping[str, str]
    """The user's variables."""
    data: Mapping[str, str]
    """`path`, and `s3` where it is copied from there first."""
    log: str
    model_copied_to: str | None
    """`s3://bucket/key/model.pt`; the report goes beside it."""
    max_run_s: int
    """Over all restarts."""
    stall_s: int
    retries: int
    workers_wait_s: int
    keep_workers: bool
    resume: bool
    queue: bool
    tags: Mapping[str, str]
    network_interface: str | None

    @property
    def is_elastic(self) -> bool:
        return self.distribution == "elastic"

    def to_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


Rule = tuple[Callable[[Any], bool], str]
"""Whether a value is right, and what is."""


def parse(document: Any) -> Request:
    """Read a request.

    Raises:
        Refused: Of kind usage; the message names the field, what it holds and what it may hold.
    """
    request = Request(**checked(document, {field.name for field in fields(Request)}, RULES))
    _check_together(request)
    return request


def checked(document: Any, names: set[str], rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Return a request's document once every field is there and holds what it may.

    Args:
        document: As it came.
        names: Of all fields.
        rules: By field.

    Raises:
        Refused: Of kind usage.
    """
    if not isinstance(document, dict):
        raise Refused("usage", f"the request is {_shown(document)}; expected an object")
    if document.get("version") != VERSION:
        raise Refused(
            "usage",
            f"request: version: {_shown(document.get('version'))}; this cluster's nodes read "
            f"version {VERSION}: deploy ClusterStack from the same checkout as the launcher's",
        )
    if unknown := sorted(set(document) - names):
        raise Refused("usage", f"request: {', '.join(unknown)}: unknown; it has {_list(names)}")
    if missing := sorted(names - set(document)):
        raise Refused("usage", f"request: {', '.join(missing)}: missing")
    for name, (is_right, wanted) in rules.items():
        if not is_right(document[name]):
            raise Refused("usage", f"request: {name}: {_shown(document[name])}; expected {wanted}")
    return document


def _check_together(request: Request) -> None:
    if request.least_workers > request.workers:
        raise Refused(
            "usage",
            f"request: least_workers: {request.least_workers}; expected at most workers, "
            f"{request.workers}",
        )
    if request.is_elastic and request.algorithm != "horovod":
        raise Refused(
            "usage",
            f"request: distribution: elastic is for horovod; {request.algorithm} restarts from "
            "its last checkpoint: mpi",
        )
    if request.image is None and request.algorithm != "horovod":
        raise Refused(
            "usage",
            f"request: image: null; {request.algorithm} runs in its image only: only horovod has "
            "a virtual environment on the nodes",
        )


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_folder(value: Any) -> bool:
    return (
        _matches(_FOLDER)(value) and len(value) <= 512 and not {".", ".."} & set(value.split("/"))
    )


def _optional(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or rule(value)


def _whole(least: int, most: int) -> Rule:
    def is_right(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return is_right, f"a whole number from {least} to {most}"


def _texts(names: re.Pattern[str], most: int) -> Callable[[Any], bool]:
    def is_right(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and len(value) <= most
            and all(names.fullmatch(name) for name in value)
            and all(isinstance(text, str) and "\0" not in text for text in value.values())
        )

    return is_right


def _is_data(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) in ({"path"}, {"path", "s3"})
        and _is_folder(value["path"])
        and ("s3" not in value or _matches(_S3)(value["s3"]))
    )


_YEAR_S = 366 * 24 * 3600
_FLAG: Rule = (lambda value: isinstance(value, bool), "true or false")

RULES: dict[str, Rule] = {
    "name": (_matches(NAME), "1 to 63 letters, digits and -"),
    "fingerprint": (_matches(_FINGERPRINT), "64 hexadecimal digits"),
    "algorithm": (lambda value: value in ALGORITHMS, " or ".join(ALGORITHMS)),
    "distribution": (lambda value: value in DISTRIBUTIONS, " or ".join(DISTRIBUTIONS)),
    "image": (_optional(_matches(_IMAGE)), "the address of an image, or null"),
    "workers": _whole(1, MOST_WORKERS),
    "least_workers": _whole(1, MOST_WORKERS),
    "processes_per_host": _whole(1, MOST_PROCESSES),
    "hyperparameters": (_texts(_HYPERPARAMETER, 1000), "an object of names and texts"),
    "environment": (_texts(_VARIABLE, 200), "an object of variables and texts"),
    "data": (_is_data, 'an object with "path", a folder, and perhaps "s3", s3://bucket/key'),
    "log": (_is_folder, "an absolute folder of letters, digits and . _ + @ = -"),
    "model_copied_to": (_optional(_matches(_S3)), "s3://bucket/key, or null"),
    "max_run_s": _whole(1, _YEAR_S),
    "stall_s": _whole(1, _YEAR_S),
    "retries": _whole(0, 30),
    "workers_wait_s": _whole(1, _YEAR_S),
    "keep_workers": _FLAG,
    "resume": _FLAG,
    "queue": _FLAG,
    "tags": (_texts(re.compile(r".{1,128}"), 50), "an object of names and texts"),
    "network_interface": (_optional(_matches(_INTERFACE)), "the name of an interface, or null"),
}


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))
