"""The JSON schema of a job spec, for editors: `python docs/make_reference.py` writes it.

It knows keys, types and ranges; what a spec means as a whole (which algorithm runs where, whether
data are there) is for `python -m training.launch --dry-run`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from training import algorithms, platforms
from training.config_keys import PREFIX
from training.field_docs import field_docs
from training.job import JobSpec

SCHEMA = "job.schema.json"
"""Its file, beside the examples in jobs/."""

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
}
"""What pydantic leaves as it is below a validator of ours, and JSON schema's word for it."""
_LENGTHS = {"minLength": "minItems", "maxLength": "maxItems"}
"""Of lists, which pydantic takes for texts there."""
Schema = dict[str, Any]


class _WithDocs(GenerateJsonSchema):
    """Pydantic's own, with the text below each field."""

    def model_schema(self, schema: Any) -> Schema:
        made = super().model_schema(schema)
        for name, text in field_docs(schema["cls"]).items():
            made["properties"][name]["description"] = text
        return made


def job_schema() -> Schema:
    """Return the schema: the keys of a spec, and the hyperparameters of its algorithm."""
    schema = JobSpec.model_json_schema(schema_generator=_WithDocs)
    definitions: Schema = schema.pop("$defs")
    properties: Schema = schema["properties"]
    properties["algorithm"]["enum"] = list(algorithms.NAMES)
    properties["platform"]["enum"] = list(platforms.NAMES)
    # Of the algorithm, below.
    properties["hyperparameters"].pop("additionalProperties", None)
    choices = []
    for name in algorithms.NAMES:
        part = _hyperparameters(name)
        definitions.update(part.pop("$defs", {}))
        definitions[name] = part
        choices.append(_choice(name, is_default=name == properties["algorithm"]["default"]))
    whole = {
        "$schema": _DRAFT,
        "title": "A job of python -m training.launch",
        **{key: value for key, value in schema.items() if key != "title"},
        "allOf": choices,
        "$defs": definitions,
    }
    return dict(_plain(whole))


def _hyperparameters(algorithm: str) -> Schema:
    model = algorithms.load(algorithm).HYPERPARAMETERS
    part = model.model_json_schema(schema_generator=_WithDocs)
    # Users write its keys one by one, as `config:KEY`.
    part["properties"].pop("config", None)
    part["patternProperties"] = {f"^{PREFIX}": {}}
    return part


def _choice(algorithm: str, *, is_default: bool) -> Schema:
    named: Schema = {"properties": {"algorithm": {"const": algorithm}}}
    if not is_default:
        named["required"] = ["algorithm"]
    of_it = {"properties": {"hyperparameters": {"$ref": f"#/$defs/{algorithm}"}}}
    return {"if": named, "then": of_it}


def _plain(schema: Schema) -> Iterator[tuple[str, Any]]:
    """Yield a schema's keys and values in JSON schema's words, without what only repeats a key."""
    is_list = schema.get("type") == "array"
    for key, value in schema.items():
        if key == "title" and isinstance(value, str) and "properties" not in schema:
            continue
        word = _BOUNDS.get(key, _LENGTHS.get(key, key) if is_list else key)
        yield word, _plain_value(value)


def _plain_value(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(_plain(value))
    if isinstance(value, list):
        return [_plain_value(each) for each in value]
    return value
