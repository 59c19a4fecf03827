"""The CDK's bootstrap stack."""

from __future__ import annotations

import pytest

from tests.training.preflight.stacks.conftest import ACCOUNT, REGION, codes_of, only_finding_of
from training.aws.clients import Clients
from training.preflight.stacks.bootstrap import AccountIsBootstrapped


def check(aws: Clients, qualifier: str = "hnb659fds") -> AccountIsBootstrapped:
    return AccountIsBootstrapped(ssm=aws.ssm, account=ACCOUNT, region=REGION, qualifier=qualifier)


def put(aws: Clients, version: str, qualifier: str = "hnb659fds") -> None:
    aws.boto("ssm").put_parameter(
        Name=f"/cdk-bootstrap/{qualifier}/version", Value=version, Type="String"
    )


@pytest.mark.parametrize("version", ["6", "28"])
def test_a_new_enough_version_passes(aws: Clients, version: str) -> None:
    put(aws, version)
    assert codes_of(check(aws)) == []


def test_none_is_an_error_with_the_command(aws: Clients) -> None:
    finding = only_finding_of(check(aws), "bootstrap-missing")
    assert finding.message.endswith("Run once: cdk bootstrap aws://123456789012/us-east-1")


def test_another_qualifier_is_looked_for_and_in_the_command(aws: Clients) -> None:
    put(aws, "28")
    finding = only_finding_of(check(aws, "mine"), "bootstrap-missing")
    assert finding.message.endswith("--qualifier mine")
    put(aws, "28", "mine")
    assert codes_of(check(aws, "mine")) == []


@pytest.mark.parametrize("version", ["5", "odd"])
def test_an_old_version_is_an_error(aws: Clients, version: str) -> None:
    put(aws, version)
    assert codes_of(check(aws)) == ["bootstrap-too-old"]
