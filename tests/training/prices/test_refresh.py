"""Fetching prices, with answers of the Price List API's documented form."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import Stubber
from typer.testing import CliRunner

from tests.training.prices.products import (
    VERSION,
    answer,
    asked,
    ec2_asked,
    ec2_product,
    pricing_client,
    product,
)
from training.aws import client as aws_client
from training.aws.pricing import Pricing
from training.cli import run
from training.errors import AwsError, ExitCode
from training.prices.__main__ import app
from training.prices.cache import price_cache
from training.prices.price_list import EC2_ON_DEMAND, SAGEMAKER_TRAINING
from training.prices.refresh import endpoint_for, fetch
from training.prices.services import SERVICES
from training.prices.table import SHIPPED, Price, find_price

TODAY = date(2026, 11, 28)

SAGEMAKER, EC2 = SERVICES


def fetched(*products: str) -> Any:
    client, stubber = pricing_client()
    stubber.add_response("get_products", answer(*products), asked("eu-west-1"))
    with stubber:
        return fetch(Pricing(client), SAGEMAKER, "eu-west-1", today=TODAY)


def test_whole_list_is_kept_with_its_version_and_the_day() -> None:
    found = fetched(
        product("ml.p4d.24xlarge", "25.2510000000", version="20260101000000"),
        product("ml.g5.xlarge", "1.4080000000"),
    )
    assert found.usd_per_hour == {"ml.g5.xlarge": 1.408, "ml.p4d.24xlarge": 25.251}
    assert (found.as_of, found.region, found.complete) == (TODAY, "eu-west-1", True)
    assert found.source == f"AWS's Price List API, AmazonSageMaker, version {VERSION}"


@pytest.mark.parametrize(
    "other",
    [
        product("ml.p4d.24xlarge", "13.57", None, "TrainingPlanUpfrontFee", "Quantity"),
        product("ml.p4d.24xlarge", "13.57", "Training", "TrainingPlanUpfrontFee"),
        product("ml.p4d.24xlarge", "25.91", "Cluster", "Cluster"),
        product("ml.p4d.24xlarge", "25.91", "Cluster", "Train"),
        product("ml.p4d.24xlarge", "10.0", "Training", "TrSpt"),
        product("ml.p4d.24xlarge", "0.14", "Training", "Train", "GB-Mo"),
        product("ml.p4d.24xlarge", "0.0000000000"),
        product("ml.p4d.24xlarge", None),
    ],
    ids=[
        "fee",
        "fee as hours",
        "HyperPod",
        "other component",
        "spot",
        "storage",
        "free",
        "other currency",
    ],
)
def test_only_an_hour_of_training_on_demand_in_usd_is_a_price(other: str) -> None:
    found = fetched(other, product("ml.g5.xlarge", "1.408"))
    assert found.usd_per_hour == {"ml.g5.xlarge": 1.408}


@pytest.mark.parametrize(
    "other",
    [
        ec2_product("g5.2xlarge", "1.2", "DedicatedUsage"),
        ec2_product("g5.2xlarge", "1.2", "UnusedBox"),
        ec2_product("g5.2xlarge", "1.2", operation="RunInstances:0010"),
        ec2_product("g5.2xlarge", "1.2", system="Windows"),
        ec2_product("g5.2xlarge", "0.0000000000"),
        ec2_product("g5.2xlarge", "1.2", unit="Quantity"),
    ],
)
def test_of_ec2_only_an_hour_on_demand_with_plain_linux_is_a_price(other: str) -> None:
    client, stubber = pricing_client()
    products = answer(other, ec2_product("g5.xlarge", "1.123"))
    stubber.add_response("get_products", products, ec2_asked("eu-west-1"))
    with stubber:
        found = fetch(Pricing(client), EC2, "eu-west-1", today=TODAY)
    assert (found.service, found.usd_per_hour) == ("ec2-on-demand", {"g5.xlarge": 1.123})


def test_prefix_of_the_region_may_be_missing() -> None:
    value = json.loads(product("ml.g5.xlarge", "1.408"))
    value["product"]["attributes"]["usagetype"] = "Train:ml.g5.xlarge"
    assert fetched(json.dumps(value)).usd_per_hour == {"ml.g5.xlarge": 1.408}


def test_two_prices_of_one_type_are_none_and_the_list_is_not_whole() -> None:
    found = fetched(
        product("ml.g5.xlarge", "1.408"),
        product("ml.g6.xlarge", "1.1"),
        product("ml.g6.xlarge", "1.2"),
    )
    assert found.usd_per_hour == {"ml.g5.xlarge": 1.408}
    assert not found.complete


def test_same_price_twice_is_one() -> None:
    found = fetched(product("ml.g5.xlarge", "1.408"), product("ml.g5.xlarge", "1.4080"))
    assert (found.usd_per_hour, found.complete) == ({"ml.g5.xlarge": 1.408}, True)


def test_region_without_prices_is_an_error() -> None:
    with pytest.raises(AwsError, match="no price in USD of SageMaker training in eu-west-1"):
        fetched()


@pytest.mark.parametrize(
    ("region", "endpoint"),
    [("eu-central-1", "eu-central-1"), ("us-west-2", "us-east-1"), ("us-east-1", "us-east-1")],
)
def test_asked_where_the_api_answers(region: str, endpoint: str) -> None:
    assert endpoint_for(region) == endpoint


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stubber:
    """Return the Price List API of this process, whose cache is a new folder."""
    client, stubber = pricing_client()

    def new_client(session: object, service: str, *, region: str) -> Any:
        assert (service, region) == ("pricing", "us-east-1")
        return client

    monkeypatch.setattr(aws_client, "new_client", new_client)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    return stubber


def test_command_fetches_into_the_users_cache_and_plans_use_it(aws: Stubber) -> None:
    before = SHIPPED.read_bytes()
    aws.add_response("get_products", answer(product("ml.g5.xlarge", "1.408")), asked("eu-west-1"))
    aws.add_response(
        "get_products", answer(ec2_product("g5.xlarge", "1.123")), ec2_asked("eu-west-1")
    )
    with aws:
        ran = CliRunner().invoke(app, ["refresh"])
        aws.assert_no_pending_responses()
    assert ran.exit_code == 0, ran.output
    cache = price_cache(os.environ)
    file = cache / "sagemaker-training.eu-west-1.json"
    assert ran.stdout == f"{file}\n{cache / 'ec2-on-demand.eu-west-1.json'}\n"
    found = find_price(EC2_ON_DEMAND, "eu-west-1", "g5.xlarge", cache=cache)
    assert isinstance(found, Price)
    assert found.usd_per_hour == 1.123
    found = find_price(SAGEMAKER_TRAINING, "eu-west-1", "ml.g5.xlarge", cache=cache)
    assert isinstance(found, Price)
    assert found.usd_per_hour == 1.408
    assert found.of.age_days(datetime.now(UTC).date()) == 0
    assert SHIPPED.read_bytes() == before


def test_command_prints_json_for_each_region(aws: Stubber) -> None:
    for region in ("eu-west-1", "us-west-2"):
        aws.add_response("get_products", answer(product("ml.g5.xlarge", "1.4")), asked(region))
        aws.add_response("get_products", answer(ec2_product("g5.xlarge", "1.1")), ec2_asked(region))
    regions = ["--region", "eu-west-1", "--region", "us-west-2", "--region", "eu-west-1"]
    with aws:
        ran = CliRunner().invoke(app, ["refresh", "--format", "json", *regions])
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert [(each["region"], each["service"]) for each in found] == [
        (region, service.name) for region in ("eu-west-1", "us-west-2") for service in SERVICES
    ]
    assert all(Path(each["file"]).is_file() for each in found)


def exit_code(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["prices", *arguments])
    with pytest.raises(SystemExit) as ended:
        run(app)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_refusal_keeps_what_was_fetched_before(
    aws: Stubber, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = price_cache(os.environ) / "sagemaker-training.eu-west-1.json"
    file.parent.mkdir(parents=True)
    file.write_text("before")
    aws.add_client_error("get_products", "AccessDeniedException", "no")
    with aws:
        assert exit_code(monkeypatch, "refresh") == ExitCode.AWS
    assert file.read_text() == "before"
    assert "GetProducts" in capsys.readouterr().err


def test_a_local_aws_has_no_price_list_and_the_message_says_so(
    aws: Stubber, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(aws_client, "is_of_aws", lambda _: False)
    aws.add_client_error("get_products", "InternalFailure", "AttributeError")
    with aws:
        assert exit_code(monkeypatch, "refresh") == ExitCode.AWS
    said = capsys.readouterr().err
    assert "a local AWS has no price list. Fetch prices from an account" in said


def test_text_that_is_no_region_is_refused_before_aws_is_asked(
    aws: Stubber, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with aws:
        assert exit_code(monkeypatch, "refresh", "--region", "../x") == ExitCode.USAGE
    assert "--region ../x: no region's name" in capsys.readouterr().err


def test_cache_that_cannot_be_written_is_named(
    aws: Stubber,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    aws.add_response("get_products", answer(product("ml.g5.xlarge", "1.4")))
    aws.add_response("get_products", answer(ec2_product("g5.xlarge", "1.1")))
    with aws:
        assert exit_code(monkeypatch, "refresh") == ExitCode.USAGE
    assert "set XDG_CACHE_HOME" in capsys.readouterr().err
