"""Whatever a user writes arrives as it is, or is refused; and what is planned is always valid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.platforms.sagemaker.planning import body
from tests.training.platforms.sagemaker.service_model import complaints
from tests.training.platforms.sagemaker.test_platform import TYPES
from tests.training.test_hyperparameter_text import HOSTILE
from training.errors import UsageError
from training.hyperparameter_types import read_word


@pytest.mark.parametrize("value", [value for value in HOSTILE if value == value.strip(" '\"")])
def test_a_hyperparameter_arrives_as_it_was_given(value: str) -> None:
    found = body(hyperparameters__load_model=value)
    assert complaints(found) == []
    # On the wire it is JSON.
    sent = json.loads(json.dumps(found))["HyperParameters"]["load_model"]
    assert read_word(sent) == value


@pytest.mark.parametrize("value", [value for value in HOSTILE if len(value) <= 512])
def test_a_variable_arrives_as_it_was_given_or_is_refused(value: str) -> None:
    if {"\0", "\ud800"} & set(value):
        with pytest.raises(UsageError, match=r"environment.MINE: .* no variable can hold"):
            body(environment={"MINE": value})
        return
    found = body(environment={"MINE": value})
    assert found["Environment"]["MINE"] == value
    assert complaints(found) == []


def test_every_other_field_is_the_same_whatever_a_hyperparameter_says() -> None:
    plain, hostile = (
        body(hyperparameters__load_model=value) for value in ("model", "$(touch hacked)\n'\"")
    )
    for request in (plain, hostile):
        del request["HyperParameters"]["load_model"]
        request["Environment"].pop("MASK_RCNN_FINGERPRINT")
    assert plain == hostile


@st.composite
def good_specs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a spec in which nothing is wrong."""
    algorithm = draw(st.sampled_from(sorted(TYPES)))
    spec: dict[str, Any] = {"algorithm": algorithm}
    optional: dict[str, st.SearchStrategy[Any]] = {
        "data_source": st.sampled_from(["s3", "efs", "fsx"]),
        "name": st.from_regex(r"[a-zA-Z0-9](-?[a-zA-Z0-9]){0,20}", fullmatch=True),
        # tensorpack takes a multiple of 8 GPUs, and its smallest type here has 4.
        "instances__count": st.integers(1, 32).map(lambda half: 2 * half),
        "instances__type": st.sampled_from(TYPES[algorithm]),
        # Never one within the other.
        "channels__train": st.from_regex(r"[0-9_]{1,9}(/[a-zA-Z_-]{1,9}){0,3}", fullmatch=True),
        "channels__log": st.from_regex(r"[a-z]{1,9}(/[a-zA-Z_-]{1,9}){0,3}", fullmatch=True),
        "limits__max_run_s": st.integers(1, 2_419_200),
        "retries": st.integers(0, 30),
        "environment": st.dictionaries(
            st.from_regex(r"MY_[a-zA-Z_][a-zA-Z0-9_]*", fullmatch=True),
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=512),
            max_size=4,
        ),
        "tags": st.dictionaries(
            st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1, max_size=128).filter(
                lambda key: key not in {"Project", "Job"}
            ),
            st.text(st.characters(categories=["L", "N", "Zs"]), max_size=256),
            max_size=4,
        ),
        "sagemaker__volume_gib": st.integers(1, 16384),
        "sagemaker__encrypt_traffic": st.booleans(),
        "sagemaker__experiment": st.from_regex(r"[a-zA-Z0-9](-?[a-zA-Z0-9]){0,20}", fullmatch=True),
        "sagemaker__health_checks": st.booleans(),
        "sagemaker__tensorboard": st.booleans(),
        "sagemaker__input_mode": st.sampled_from(["File", "FastFile"]),
    }
    if algorithm == "horovod":
        optional["hyperparameters__load_model"] = st.text(max_size=400)
    spec |= draw(st.fixed_dictionaries({}, optional=optional))
    if draw(st.booleans()):
        run = spec.get("limits__max_run_s", 400_000)
        spec |= {"spot__enabled": True, "spot__max_wait_s": run + draw(st.integers(0, 10**6))}
    else:
        spec["sagemaker__keep_alive_s"] = draw(st.integers(0, 3600))
    return spec


@given(good_specs())
@settings(max_examples=60)
def test_any_good_spec_gives_a_request_that_aws_takes(spec: dict[str, Any]) -> None:
    assert complaints(body(**spec)) == []


text = st.text(max_size=300)
wild_values = {
    "name": text,
    "data_source": text,
    "instances__count": st.integers(),
    "instances__type": text,
    "instances__processes_per_instance": st.integers(0, 9),
    "channels__train": st.text("abc/.-_ \n", max_size=20),
    "channels__log": st.text("abc/.-_ \n", max_size=20),
    "limits__max_run_s": st.integers(),
    "spot__max_wait_s": st.integers(),
    "retries": st.integers(),
    "image": text,
    "environment": st.dictionaries(text, text, max_size=2),
    "tags": st.dictionaries(text, text, max_size=2),
    "sagemaker__volume_gib": st.integers(),
    "sagemaker__keep_alive_s": st.integers(),
    "sagemaker__network_isolation": st.booleans(),
    "sagemaker__training_plan_arn": text,
    "sagemaker__experiment": text,
    "hyperparameters__load_model": text,
    "hyperparameters__backbone_weights": text,
}


@given(good_specs(), st.sampled_from(sorted(wild_values)), st.data())
@settings(max_examples=100)
def test_any_value_is_refused_or_gives_a_request_that_aws_takes(
    spec: dict[str, Any], key: str, data: st.DataObject
) -> None:
    value = data.draw(wild_values[key])
    try:
        found = body(**{**spec, key: value})
    except UsageError:
        return
    assert complaints(found) == []
