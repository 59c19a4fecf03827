"""The charts' written files are what `charts/make` says, and what Helm needs is there."""

from __future__ import annotations

import json

import pytest
import yaml
from jsonschema import Draft7Validator

from charts.make.files import files, groups_of_charts
from charts.make.key import Group
from charts.make.tables import types_of
from tests.charts.rendering import CHARTS, TRAINING

OURS = sorted(groups_of_charts())


def test_the_written_files_are_current() -> None:
    stale = [str(path) for path, text in files().items() if path.read_text("utf-8") != text]

    assert stale == [], "run: python -m charts.make"


@pytest.mark.parametrize("chart", OURS)
def test_the_library_lies_in_each_chart_as_a_link(chart: str) -> None:
    link = CHARTS / chart / "charts" / "library"

    assert str(link.readlink()) == "../../library"
    assert link.resolve() == CHARTS / "library"


@pytest.mark.parametrize("chart", OURS)
def test_the_schema_is_one_and_takes_the_defaults(chart: str) -> None:
    schema = json.loads((CHARTS / chart / "values.schema.json").read_text("utf-8"))
    values = yaml.safe_load((CHARTS / chart / "values.yaml").read_text("utf-8"))

    Draft7Validator.check_schema(schema)
    assert list(Draft7Validator(schema).iter_errors(values)) == []


@pytest.mark.parametrize("chart", OURS)
def test_every_key_is_described_and_no_other_is_taken(chart: str) -> None:
    schema = json.loads((CHARTS / chart / "values.schema.json").read_text("utf-8"))
    of_helm = schema["properties"].pop("library")

    assert of_helm == {"type": "object"}
    assert schema["additionalProperties"] is False
    for name, each in schema["properties"].items():
        assert each["description"], name
        if "properties" in each:
            assert each["additionalProperties"] is False, name
            assert all(key["description"].endswith(".") for key in each["properties"].values())


@pytest.mark.parametrize(("chart", "algorithm"), TRAINING.items())
def test_a_chart_takes_the_instance_types_that_its_algorithm_runs_on(
    chart: str, algorithm: str
) -> None:
    schema = json.loads((CHARTS / chart / "values.schema.json").read_text("utf-8"))

    types = schema["properties"]["maskrcnn"]["properties"]["gpu_instance_type"]["enum"]

    assert types == list(types_of(algorithm))
    assert ("p4d.24xlarge" in types) is (algorithm == "horovod")
    assert ("p3.16xlarge" in types) is (algorithm != "horovod")


def test_keys_of_values_yaml_are_no_words_that_yaml_takes_for_others() -> None:
    """`n: 1` would be a key False."""
    for chart, (_, groups) in groups_of_charts().items():
        read = yaml.load(
            (CHARTS / chart / "values.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
        )
        assert read == _nested(groups)


def _nested(groups: tuple[Group, ...]) -> dict[str, object]:
    nested: dict[str, object] = {}
    for group in groups:
        nested.update({group.name: group.default()} if group.name else group.default())
    return nested
