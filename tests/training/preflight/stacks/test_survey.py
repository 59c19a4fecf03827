"""Whose account answers."""

from __future__ import annotations

from typing import Any, cast

import pytest
from boto3.session import Session

from stacks.settings import Settings
from tests.training.preflight.stacks.conftest import ACCOUNT, Call, Stub
from training.aws.errors import AwsRefused, AwsUnreachable, NoCredentials
from training.preflight.stacks.survey import survey

ME = {"Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:user/me", "UserId": "1"}
WHO: Call = ("get_caller_identity", ME, {})


class FakeSession:
    """Has the clients that it is given, by service and region."""

    def __init__(
        self, clients: dict[tuple[str, str], Any], region_name: str | None = "us-west-2"
    ) -> None:
        self.region_name = region_name
        self._clients = clients

    def client(self, service: str, *, region_name: str | None, config: Any) -> Any:
        return self._clients[service, region_name or self.region_name or ""]

    def get_partition_for_region(self, region: str) -> str:
        return Session().get_partition_for_region(region)


def look(
    clients: dict[tuple[str, str], Any],
    context: dict[str, Any] | None = None,
    region_name: str | None = "us-west-2",
) -> Any:
    context = context or {}
    session = cast(Session, FakeSession(clients, region_name))
    return survey(Settings.from_context(context), session, context, time_limit_s=30)


def test_the_account_and_region_of_the_environment_are_taken(stub: Stub) -> None:
    found = look({("sts", "us-west-2"): stub("sts", WHO)})
    assert found.findings == []
    assert found.place.identity.account == ACCOUNT
    assert (found.place.qualifier, found.place.environment_region) == ("hnb659fds", "us-west-2")


def test_settings_win_and_the_qualifier_is_that_of_the_context(stub: Stub) -> None:
    context = {
        "aws_account": ACCOUNT,
        "aws_region": "eu-west-1",
        "@aws-cdk/core:bootstrapQualifier": "mine",
    }
    found = look({("sts", "eu-west-1"): stub("sts", WHO)}, context)
    assert found.place.qualifier == "mine"
    assert found.place.environment_region == "us-west-2"


def test_another_account_ends_it(stub: Stub) -> None:
    context = {"aws_account": "210987654321", "aws_region": "us-west-2"}
    found = look({("sts", "us-west-2"): stub("sts", WHO)}, context)
    assert found.place is None
    assert [finding.code for finding in found.findings] == ["account-differs"]


def regions_answer(status: str) -> Call:
    request = {
        "AllRegions": True,
        "Filters": [{"Name": "region-name", "Values": ["me-south-1"]}],
    }
    return ("describe_regions", {"Regions": [{"OptInStatus": status}]}, request)


def test_a_region_that_is_not_enabled_is_told_by_one_that_is(stub: Stub) -> None:
    clients = {
        ("sts", "me-south-1"): stub("sts", ("get_caller_identity", "InvalidClientTokenId", {})),
        ("sts", "us-east-1"): stub("sts", WHO),
        ("ec2", "us-east-1"): stub("ec2", regions_answer("not-opted-in")),
    }
    found = look(clients, {"aws_region": "me-south-1", "fsx": "none"})
    assert found.place is None
    (finding,) = found.findings
    assert finding.code == "region-not-enabled"
    assert "enable-region --region-name me-south-1" in finding.message


def test_credentials_that_no_region_takes_are_an_error_of_the_first(stub: Stub) -> None:
    unknown: Call = ("get_caller_identity", "InvalidClientTokenId: The token is invalid", {})
    clients = {
        ("sts", "me-south-1"): stub("sts", unknown),
        ("sts", "us-east-1"): stub("sts", unknown),
    }
    with pytest.raises(AwsRefused, match="aws configure"):
        look(clients, {"aws_region": "me-south-1", "fsx": "none"})


def test_an_enabled_region_that_fails_is_an_error_of_its_own(stub: Stub) -> None:
    clients = {
        ("sts", "me-south-1"): stub("sts", ("get_caller_identity", "InternalFailure", {})),
        ("sts", "us-east-1"): stub("sts", WHO),
        ("ec2", "us-east-1"): stub("ec2", regions_answer("opted-in")),
    }
    with pytest.raises(AwsRefused, match="InternalFailure"):
        look(clients, {"aws_region": "me-south-1", "fsx": "none"})


class Silent:
    """A client whose service does not answer."""

    def __init__(self, real: Any) -> None:
        self.meta = real.meta

    def get_caller_identity(self) -> None:
        from botocore.exceptions import EndpointConnectionError

        raise EndpointConnectionError(endpoint_url="https://sts.example/")


def test_where_nothing_answers_aws_cannot_be_reached(stub: Stub) -> None:
    silent = Silent(stub("sts"))
    with pytest.raises(AwsUnreachable, match="cannot be reached"):
        look({("sts", "us-west-2"): silent, ("sts", "us-east-1"): silent})
    with pytest.raises(AwsUnreachable):
        look({("sts", "us-east-1"): silent}, region_name="us-east-1")


def test_other_partitions_ask_their_own_home(stub: Stub) -> None:
    clients = {
        ("sts", "cn-northwest-1"): Silent(stub("sts")),
        ("sts", "cn-north-1"): Silent(stub("sts")),
    }
    with pytest.raises(AwsUnreachable):
        look(clients, {"aws_region": "cn-northwest-1", "fsx": "none"})


def test_without_a_region_anywhere_the_variable_is_named() -> None:
    from botocore.exceptions import NoRegionError

    class Nowhere(FakeSession):
        def client(self, service: str, *, region_name: str | None, config: Any) -> Any:
            raise NoRegionError

    with pytest.raises(NoCredentials, match="Set AWS_REGION"):
        survey(Settings.from_context({}), cast(Session, Nowhere({}, None)), {}, time_limit_s=30)
