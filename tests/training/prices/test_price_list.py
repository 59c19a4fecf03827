"""Price lists: their form, and the list that is shipped."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.instances import EXCLUDED_FAMILIES, INSTANCES
from training.prices.price_list import PriceList, is_region, read_price_list
from training.prices.table import SHIPPED

GOOD: dict[str, Any] = {
    "service": "sagemaker-training",
    "region": "eu-west-1",
    "as_of": "2026-11-01",
    "complete": True,
    "source": "here",
    "usd_per_hour": {"ml.g5.xlarge": 1.5},
}


@given(
    prices=st.dictionaries(
        st.text(min_size=1), st.floats(min_value=1e-6, max_value=1e5, exclude_min=True)
    ),
    day=st.dates(),
    complete=st.booleans(),
)
def test_list_reads_back_as_it_was(prices: dict[str, float], day: date, complete: bool) -> None:
    written = PriceList(
        service="s", region="r", as_of=day, source="w", complete=complete, usd_per_hour=prices
    )
    assert read_price_list(json.loads(json.dumps(written.to_json()))) == written


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {**GOOD, "as_of": "yesterday"},
        {**GOOD, "as_of": 20261101},
        {**GOOD, "usd_per_hour": []},
        {**GOOD, "usd_per_hour": {"ml.g5.xlarge": None}},
        {**GOOD, "usd_per_hour": {"ml.g5.xlarge": 0}},
        {**GOOD, "usd_per_hour": {"ml.g5.xlarge": -1}},
        {**GOOD, "usd_per_hour": {"ml.g5.xlarge": float("nan")}},
        {**GOOD, "usd_per_hour": {"ml.g5.xlarge": float("inf")}},
        {**GOOD, "usd_per_hour": {"ml.g5.xlarge": 1e308}},
    ],
)
def test_something_else_is_no_price_list(wrong: Any) -> None:
    with pytest.raises(ValueError):
        read_price_list(wrong)


@pytest.mark.parametrize(
    ("today", "age"),
    [(date(2026, 11, 1), 0), (date(2027, 1, 30), 90), (date(2026, 10, 1), 0)],
)
def test_age_is_counted_in_days_and_never_negative(today: date, age: int) -> None:
    assert read_price_list(GOOD).age_days(today) == age


@pytest.mark.parametrize("name", ["us-east-1", "ap-southeast-3", "us-gov-west-1", "eusc-de-east-1"])
def test_names_of_regions(name: str) -> None:
    assert is_region(name)


@pytest.mark.parametrize("name", ["", "useast1", "../us-east-1", "us-east-1/..", "US-EAST-1", "eu"])
def test_other_texts_are_no_regions(name: str) -> None:
    assert not is_region(name)


def test_each_shipped_price_has_a_day_and_a_source_and_is_of_a_training_type() -> None:
    lists = [read_price_list(each) for each in json.loads(SHIPPED.read_bytes())["price_lists"]]
    assert lists
    told = [(each.service, each.region, name) for each in lists for name in each.usd_per_hour]
    assert len(told) == len(set(told))
    known = {each.sagemaker_name for each in INSTANCES if each.on_sagemaker}
    known |= {each.name for each in INSTANCES}
    for each in lists:
        assert each.service in {"sagemaker-training", "ec2-on-demand"}
        prefix = "ml." if each.service == "sagemaker-training" else ""
        assert all(name.startswith(prefix) for name in each.usd_per_hour)
        assert is_region(each.region)
        assert "github.com/" in each.source
        assert each.as_of > date(2026, 1, 1)
        accelerated = {name for name in each.usd_per_hour if name[len(prefix)] in "gp"}
        assert accelerated <= known
        families = {name.removeprefix(prefix).split(".")[0] for name in accelerated}
        assert not families & EXCLUDED_FAMILIES.keys()


def test_shipped_file_is_small_and_sorted() -> None:
    text = SHIPPED.read_text()
    assert len(text) < 16_000
    value = json.loads(text)
    again = [read_price_list(each).to_json() for each in value["price_lists"]]
    assert again == value["price_lists"]
