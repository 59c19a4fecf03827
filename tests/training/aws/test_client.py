"""How clients are made."""

from __future__ import annotations

import pytest

from training.aws.client import new_client, new_session, where
from training.aws.errors import NoCredentials


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
