"""The Price List API, with answers of its documented form."""

from __future__ import annotations

import json

import pytest
from botocore.session import get_session

from tests.training.prices.products import VERSION, answer, asked, pricing_client, product
from training.aws.errors import AwsRefused
from training.aws.pricing import ENDPOINTS, Pricing, Rate
from training.errors import AwsError


def test_all_pages_are_asked_for_and_read() -> None:
    client, stubber = pricing_client()
    first = answer(product("ml.g5.xlarge", "1.6900000000"), token="more")
    stubber.add_response("get_products", first, asked("eu-west-1"))
    second = answer(product("ml.p4d.24xlarge", None, unit="Quantity"))
    stubber.add_response("get_products", second, asked("eu-west-1", "more"))
    with stubber:
        found = list(
            Pricing(client).products(
                "AmazonSageMaker", regionCode="eu-west-1", component="Training"
            )
        )
        stubber.assert_no_pending_responses()
    assert [each.attributes["instanceName"] for each in found] == [
        "ml.g5.xlarge",
        "ml.p4d.24xlarge",
    ]
    assert [each.rates for each in found] == [(Rate("Hrs", 1.69),), (Rate("Quantity", None),)]
    assert {each.version for each in found} == {VERSION}


def test_refusal_names_the_permission() -> None:
    client, stubber = pricing_client()
    stubber.add_client_error("get_products", "AccessDeniedException", "no")
    with stubber, pytest.raises(AwsRefused) as error:
        list(Pricing(client).products("AmazonSageMaker"))
    assert error.value.action == "pricing:GetProducts"


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[]",
        "{}",
        json.dumps(
            {"product": {"attributes": {}}, "version": "1", "terms": {"OnDemand": {"a": 1}}}
        ),
        product("ml.g5.xlarge", "free"),
    ],
)
def test_product_of_another_form_is_an_error_that_shows_it(text: str) -> None:
    client, stubber = pricing_client()
    stubber.add_response("get_products", answer(text))
    with stubber, pytest.raises(AwsError) as error:
        list(Pricing(client).products("AmazonSageMaker"))
    assert text[:100] in str(error.value)


def test_reserved_terms_are_no_prices_on_demand() -> None:
    client, stubber = pricing_client()
    value = json.loads(product("ml.g5.xlarge", "1.0"))
    value["terms"] = {"Reserved": value["terms"]["OnDemand"]}
    stubber.add_response("get_products", answer(json.dumps(value)))
    with stubber:
        (found,) = Pricing(client).products("AmazonSageMaker")
    assert found.rates == ()


def test_endpoints_are_those_of_the_service() -> None:
    assert sorted(ENDPOINTS) == sorted(get_session().get_available_regions("pricing"))
