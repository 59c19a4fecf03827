"""What the MPI Operator's own definition of an MPIJob has, as far as it matters here.

`mpijob_fields.json` lists paths and types of that CustomResourceDefinition (address, commit and
sha256 stand in it): everything outside pod templates, and of pod templates the paths that the
charts render. They were taken from the definition itself; a chart that begins to use another path
fails until it has been looked up there and written down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

GOLDEN = json.loads(Path(__file__).with_name("mpijob_fields.json").read_text(encoding="utf-8"))
FIELDS: Mapping[str, str] = GOLDEN["fields"]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "int-or-string": (int, str),
}


def problems(document: Any, path: str = "") -> Iterator[str]:
    """Yield each place of an MPIJob that the definition does not have, or has otherwise."""
    kind, _, choices = FIELDS.get(path, "").partition(":")
    if not kind:
        yield f"{path}: the definition has no such field"
        return
    is_flag = isinstance(document, bool)
    if not isinstance(document, _TYPES[kind]) or is_flag is not (kind == "boolean"):
        yield f"{path}: {document!r} is no {kind}"
        return
    if choices and str(document) not in choices.split("|"):
        yield f"{path}: {document!r} is not one of {choices}"
    if path == "metadata":
        return  # Kubernetes' own, which the definition leaves open.
    if isinstance(document, dict):
        is_map = f"{path}.*" in FIELDS
        for name, value in document.items():
            yield from problems(value, f"{path}.{'*' if is_map else name}".removeprefix("."))
    elif isinstance(document, list):
        for value in document:
            yield from problems(value, f"{path}[]")
