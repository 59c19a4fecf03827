"""SageMaker's rules for a request, as far as its service model tells them.

botocore itself checks types, unknown and missing members, and minimal lengths. The model also has
patterns, choices and maximal lengths, which are only checked by AWS: this does it here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session
import regex
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

LINE_BREAKS = r"\n\r\u0085\u2028\u2029"
"""What a dot does not match in Java, by whose rules AWS's patterns are written."""

TYPES = {"string": str, "integer": int, "long": int, "boolean": bool}


@cache
def service_model(service: str = "sagemaker") -> ServiceModel:
    loader = botocore.session.get_session().get_component("data_loader")
    return ServiceModel(loader.load_service_model(service, "service-2"), service)


def complaints(body: dict[str, Any], operation: str = "CreateTrainingJob") -> list[str]:
    """Return what is wrong with a request: place, value and rule."""
    shape = service_model().operation_model(operation).input_shape
    assert shape is not None
    report = ParamValidator().validate(body, shape)
    known = [report.generate_report()] if report.has_errors() else []
    return known + list(_walk(body, shape, operation))


def _walk(value: Any, shape: Shape, place: str) -> Iterator[str]:
    if shape.type_name == "structure":
        for name, item in value.items():
            if name in shape.members:  # type: ignore[attr-defined]
                yield from _walk(item, shape.members[name], f"{place}.{name}")  # type: ignore[attr-defined]
    elif shape.type_name == "list":
        yield from _size(len(value), shape, place, "items")
        for number, item in enumerate(value):
            yield from _walk(item, shape.member, f"{place}[{number}]")  # type: ignore[attr-defined]
    elif shape.type_name == "map":
        yield from _size(len(value), shape, place, "entries")
        for key, item in value.items():
            yield from _walk(key, shape.key, f"{place} key {key!r}")  # type: ignore[attr-defined]
            yield from _walk(item, shape.value, f"{place}[{key!r}]")  # type: ignore[attr-defined]
    else:
        yield from _scalar(value, shape, place)


def _scalar(value: Any, shape: Shape, place: str) -> Iterator[str]:
    if type(value) is not TYPES[shape.type_name]:
        yield f"{place}: {value!r} is no {shape.type_name}"
        return
    if shape.type_name in {"integer", "long"}:
        yield from _size(value, shape, place, "")
    if not isinstance(value, str):
        return
    try:
        value.encode()
    except UnicodeEncodeError:
        yield f"{place}: {value!r} is no Unicode text"
    yield from _size(len(value), shape, place, "characters")
    choices = getattr(shape, "enum", [])
    if choices and value not in choices:
        yield f"{place}: {value!r} is not one of the {len(choices)} choices"
    pattern = shape.metadata.get("pattern")
    if pattern and not _compiled(pattern).fullmatch(value):
        yield f"{place}: {value!r} does not match {pattern}"


def _size(size: int, shape: Shape, place: str, what: str) -> Iterator[str]:
    lowest, highest = shape.metadata.get("min"), shape.metadata.get("max")
    if lowest is not None and size < lowest:
        yield f"{place}: {size} {what}, at least {lowest}"
    if highest is not None and size > highest:
        yield f"{place}: {size} {what}, at most {highest}"


@cache
def _compiled(pattern: str) -> Any:
    # A dot outside of a character class that is not escaped.
    dots = regex.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\.", _java_dot, pattern)
    return regex.compile(dots)


def _java_dot(match: Any) -> str:
    return match[1] or f"[^{LINE_BREAKS}]"
