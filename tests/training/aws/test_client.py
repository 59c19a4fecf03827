"""How clients are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.aws.client import find_credentials, is_of_aws, new_client, new_session, where
from training.aws.errors import NoCredentials
from training.errors import AwsError


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials")


def test_client_is_of_the_region_and_gives_up_soon() -> None:
    client = new_client(new_session(region="eu-west-1"), "s3")
    assert where(client) == "AWS in eu-west-1"
    assert client.meta.config.connect_timeout == 2.0
    assert client.meta.config.retries["total_max_attempts"] == 2


def test_endpoint_of_the_environment_is_used_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:5566")
    client = new_client(new_session(region="us-east-1"), "cloudformation")
    assert where(client) == "http://127.0.0.1:5566 (us-east-1)"


def test_missing_region_is_one_error_that_names_the_variable() -> None:
    with pytest.raises(NoCredentials, match="Set AWS_REGION"):
        new_client(new_session(), "cloudformation")


def test_a_region_without_a_word_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert new_session().region_name == "eu-north-1"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "")
    with pytest.raises(NoCredentials, match="Set AWS_REGION"):
        new_client(new_session(), "cloudformation")


def test_unknown_profile_is_one_error_that_names_it() -> None:
    with pytest.raises(NoCredentials, match=r"mine.* ~/\.aws/config"):
        new_session(profile="mine")


def test_the_region_may_be_in_either_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert new_session().region_name == "eu-west-1"
    assert new_session(region="us-east-1").region_name == "us-east-1"
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert new_session().region_name == "eu-north-1"


@pytest.mark.parametrize(
    ("endpoint", "is_it"),
    [
        ("https://api.pricing.us-east-1.amazonaws.com", True),
        ("https://s3.cn-north-1.amazonaws.com.cn", True),
        ("http://127.0.0.1:4566", False),
    ],
)
def test_a_local_aws_is_told_from_aws(endpoint: str, is_it: bool) -> None:
    session = new_session(region="us-east-1")
    assert is_of_aws(session.client("pricing", endpoint_url=endpoint)) is is_it


def test_clients_that_get_credentials_give_up_soon_too() -> None:
    session = new_session(region="us-east-1")
    # As botocore makes them, to assume a role of a profile.
    config = session.client("sts").meta.config
    assert (config.connect_timeout, config.read_timeout) == (2.0, 60.0)
    assert config.retries["total_max_attempts"] == 2


def test_credentials_that_cannot_be_had_are_one_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile broken]\ncredential_process = false\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    session = new_session(region="us-east-1", profile="broken")
    with pytest.raises(AwsError, match="custom-process"):
        find_credentials(session)


def test_that_there_are_no_credentials_is_told_by_the_first_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    find_credentials(new_session(region="us-east-1"))
