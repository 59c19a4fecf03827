"""What templates tell of the settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings

from app import build_app
from stacks.settings import Settings
from stacks.settings.recorded import GROUPS, RECORD, record_of, texts_of
from tests.stacks.matrix import EXISTING_VPC, MATRIX, STACKS, read_template
from tests.stacks.settings_strategies import matching
from training.errors import UsageError

NOT_RECORDED = {
    "aws_account",
    "aws_region",
    "termination_protection",
    "planned_instance_type",
    "planned_instance_count",
}


def of_all_stacks(of: Settings) -> dict[str, str]:
    return {key: text for stack in GROUPS for key, text in record_of(of, stack).items()}


def without(of: Settings) -> dict[str, Any]:
    """Return the values of settings but of those that no template tells."""
    parts = of.model_dump()
    return {
        name: {key: value for key, value in part.items() if key not in NOT_RECORDED}
        for name, part in parts.items()
    }


def check_round_trip(context: Mapping[str, Any]) -> None:
    given_first = Settings.from_context(context)
    record = of_all_stacks(given_first)
    again = Settings.from_context(record)
    assert without(again) == without(given_first)
    assert of_all_stacks(again) == record


@pytest.mark.parametrize("row", MATRIX)
def test_a_record_given_again_makes_the_same_settings(row: str) -> None:
    check_round_trip(MATRIX[row])


@given(matching)
@settings(max_examples=50)
def test_any_record_given_again_makes_the_same_settings(context: dict[str, Any]) -> None:
    try:
        Settings.from_context(context)
    except UsageError:
        reject()
    check_round_trip(context)


@pytest.mark.parametrize(
    "context",
    [
        {"fsx_import_events": "none", "efs_infrequent_access_days": "none"},
        {**EXISTING_VPC, "interface_endpoints": "none", "internet_access": "false"},
        {"tags": json.dumps({"a=b": "c"})},
    ],
)
def test_nothing_is_told_apart_from_the_default(context: dict[str, Any]) -> None:
    check_round_trip(context)
    assert of_all_stacks(Settings.from_context(context)).keys() == context.keys()


def test_every_key_is_told_by_one_stack_or_is_general_or_none() -> None:
    told = [set(texts_of(Settings(), stack)) for stack in GROUPS]
    general = set.intersection(*told)
    assert general == {"project", "tags", "permissions_boundary", "role_path"}
    assert set.union(*told) | NOT_RECORDED == set(Settings.allowed())
    assert sum(len(keys - general) for keys in told) == len(set.union(*told) - general)


def test_each_template_tells_its_own_in_order(tmp_path: Path) -> None:
    context = {**EXISTING_VPC, "tags": "a=b", "registry_kept_images": "7", "fsx": "none"}
    build_app(context, outdir=str(tmp_path)).synth()
    told = {stack: read_template(tmp_path, stack)["Metadata"][RECORD] for stack in STACKS}
    tags = {"tags": '{"a": "b"}'}
    assert told == {
        "NetworkStack": {**EXISTING_VPC, **tags},
        "StorageStack": {"fsx": "none", **tags},
        "RegistryStack": {"registry_kept_images": "7", **tags},
        "NotebookStack": tags,
        "ClusterStack": tags,
        "KubernetesStack": tags,
    }
    assert all(list(record) == sorted(record) for record in told.values())
