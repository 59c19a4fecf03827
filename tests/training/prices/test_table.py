"""Which list tells a price, and what is said where none does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from training.prices import table
from training.prices.cache import cached_file, price_cache, write_cached
from training.prices.price_list import SAGEMAKER_TRAINING, PriceList
from training.prices.table import Price, Unknown, find_price


def listed(
    prices: Mapping[str, float], *, as_of: str, complete: bool = True, region: str = "eu-west-1"
) -> PriceList:
    return PriceList(
        service=SAGEMAKER_TRAINING,
        region=region,
        as_of=date.fromisoformat(as_of),
        source="a test",
        complete=complete,
        usd_per_hour=prices,
    )


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> list[PriceList]:
    lists: list[PriceList] = []
    monkeypatch.setattr(table, "_shipped", lambda: tuple(lists))
    return lists


def find(instance_type: str, cache: Path, region: str = "eu-west-1") -> Price | Unknown:
    return find_price(SAGEMAKER_TRAINING, region, instance_type, cache=cache)


def usd(found: Price | Unknown) -> float:
    assert isinstance(found, Price), found
    return found.usd_per_hour


def why(found: Price | Unknown) -> str:
    assert isinstance(found, Unknown), found
    return found.why


def test_shipped_price_is_found_with_its_day(tmp_path: Path) -> None:
    found = find("ml.p4d.24xlarge", tmp_path, "ap-south-1")
    assert isinstance(found, Price)
    assert found.usd_per_hour == 30.29606
    assert found.of.as_of == date(2026, 9, 21)


@pytest.mark.parametrize("instance_type", ["ml.p3.16xlarge", "ml.p3dn.24xlarge"])
def test_type_that_awss_whole_list_has_not_is_unknown(tmp_path: Path, instance_type: str) -> None:
    text = why(find(instance_type, tmp_path, "ap-south-1"))
    assert "AWS's list of 2026-09-21 for ap-south-1 has no price of " + instance_type in text
    assert "`python -m training.prices refresh --region ap-south-1`" in text


def test_price_of_another_region_is_never_taken(tmp_path: Path, shipped: list[PriceList]) -> None:
    shipped.append(listed({"ml.g5.xlarge": 1.0}, as_of="2026-01-01", region="eu-west-2"))
    text = why(find("ml.g5.xlarge", tmp_path))
    assert "no price of ml.g5.xlarge in eu-west-1 is known here" in text
    assert "refresh --region eu-west-1" in text


def test_price_of_another_service_is_never_taken(tmp_path: Path, shipped: list[PriceList]) -> None:
    shipped.append(listed({"ml.g5.xlarge": 1.0}, as_of="2026-01-01"))
    assert isinstance(find_price("ec2", "eu-west-1", "ml.g5.xlarge", cache=tmp_path), Unknown)


def test_fetched_price_comes_before_the_shipped_one(
    tmp_path: Path, shipped: list[PriceList]
) -> None:
    shipped.append(listed({"ml.g5.xlarge": 1.0}, as_of="2026-01-01"))
    write_cached(tmp_path, listed({"ml.g5.xlarge": 2.0}, as_of="2026-01-01"))
    assert usd(find("ml.g5.xlarge", tmp_path)) == 2.0


def test_newer_package_comes_before_what_was_fetched_long_ago(
    tmp_path: Path, shipped: list[PriceList]
) -> None:
    shipped.append(listed({"ml.g5.xlarge": 1.0}, as_of="2026-06-01"))
    write_cached(tmp_path, listed({"ml.g5.xlarge": 2.0}, as_of="2026-01-01"))
    assert usd(find("ml.g5.xlarge", tmp_path)) == 1.0


def test_what_awss_newer_list_dropped_has_no_price_any_more(
    tmp_path: Path, shipped: list[PriceList]
) -> None:
    shipped.append(listed({"ml.g5.xlarge": 1.0}, as_of="2026-01-01"))
    write_cached(tmp_path, listed({"ml.g6.xlarge": 2.0}, as_of="2026-06-01"))
    assert "AWS's list of 2026-06-01" in why(find("ml.g5.xlarge", tmp_path))


def test_part_of_a_list_says_nothing_of_other_types(
    tmp_path: Path, shipped: list[PriceList]
) -> None:
    shipped.append(listed({"ml.g5.xlarge": 1.0}, as_of="2026-01-01"))
    part = listed({"ml.g6.xlarge": 2.0}, as_of="2026-06-01", complete=False)
    write_cached(tmp_path, part)
    assert usd(find("ml.g5.xlarge", tmp_path)) == 1.0


def test_a_list_of_another_region_is_not_taken_for_this_one(tmp_path: Path) -> None:
    other = write_cached(tmp_path, listed({"ml.g5.xlarge": 2.0}, as_of="2026-06-01"))
    assert other.name == "sagemaker-training.eu-west-1.json"
    file = cached_file(tmp_path, SAGEMAKER_TRAINING, "eu-west-2")
    other.rename(file)
    found = find_price(SAGEMAKER_TRAINING, "eu-west-2", "ml.g5.xlarge", cache=tmp_path)
    assert f"{file} is damaged" in why(found)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"\xff", b'{"usd_per_hour": {"a": 0}}', pytest.param(b"[" * 100_000, id="deep")],
)
def test_damaged_cache_is_named_and_the_shipped_price_is_taken(
    tmp_path: Path, shipped: list[PriceList], content: bytes
) -> None:
    file = cached_file(tmp_path, SAGEMAKER_TRAINING, "eu-west-1")
    file.write_bytes(content)
    assert f"{file} is damaged" in why(find("ml.g5.xlarge", tmp_path))
    shipped.append(listed({"ml.g5.xlarge": 1.0}, as_of="2026-01-01"))
    assert usd(find("ml.g5.xlarge", tmp_path)) == 1.0


def test_text_that_is_no_region_opens_no_file(tmp_path: Path) -> None:
    assert "'../x' is no region's name" in why(find("ml.g5.xlarge", tmp_path, "../x"))


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/distributed-mask-rcnn/prices"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/distributed-mask-rcnn/prices"),
        ({"HOME": "/h"}, "/h/.cache/distributed-mask-rcnn/prices"),
        ({}, "/.cache/distributed-mask-rcnn/prices"),
    ],
)
def test_cache_is_the_users(environ: dict[str, str], place: str) -> None:
    assert str(price_cache(environ)) == place


def test_look_up_takes_less_than_20_ms(tmp_path: Path) -> None:
    table._shipped.cache_clear()
    begin = time.perf_counter()
    find("ml.p4d.24xlarge", tmp_path, "ap-south-1")
    assert time.perf_counter() - begin < 0.02
