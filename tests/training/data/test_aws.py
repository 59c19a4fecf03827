from __future__ import annotations

from typing import Any

import boto3
import pytest

from tests.training.data.conftest import CREDENTIALS, S3
from training.data import aws as module
from training.data.aws import s5cmd_environ


@pytest.fixture
def session(s3: S3, monkeypatch: pytest.MonkeyPatch) -> boto3.Session:
    for name, value in s3.environ.items():
        monkeypatch.setenv(name, value)
    return boto3.Session()


def test_s5cmd_gets_what_boto3_found_and_looks_for_nothing_itself(
    session: boto3.Session, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AWS_CONFIG_FILE": "/somewhere",
        "AWS_SESSION_TOKEN": "token",
        "HTTPS_PROXY": "http://proxy:3128",
        "NO_PROXY": "127.0.0.1",
        "SECRET_OF_SOMETHING_ELSE": "x",
        "PATH": "/bin",
    }.items():
        monkeypatch.setenv(name, value)
    for name in module._PASSED_ON - {"HTTPS_PROXY", "NO_PROXY", "PATH"}:
        monkeypatch.delenv(name, raising=False)
    environ = s5cmd_environ(session, s3.client, s3.bucket)
    assert environ == {
        "AWS_SDK_LOAD_CONFIG": "0",
        "AWS_REGION": CREDENTIALS["AWS_REGION"],
        "AWS_ACCESS_KEY_ID": CREDENTIALS["AWS_ACCESS_KEY_ID"],
        "AWS_SECRET_ACCESS_KEY": CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        "AWS_SESSION_TOKEN": "token",
        "S3_ENDPOINT_URL": s3.environ["AWS_ENDPOINT_URL"],
        "HTTPS_PROXY": "http://proxy:3128",
        "NO_PROXY": "127.0.0.1",
        "PATH": "/bin",
    }


@pytest.mark.parametrize(
    ("region", "endpoint", "passed"),
    [
        ("eu-west-1", None, None),
        ("us-east-1", None, None),
        ("cn-north-1", None, None),
        ("eu-west-1", "https://minio.example:9000", "https://minio.example:9000"),
        (
            "eu-west-1",
            "https://s3-fips.eu-west-1.amazonaws.com",
            "https://s3-fips.eu-west-1.amazonaws.com",
        ),
    ],
)
def test_only_an_endpoint_that_is_not_the_regions_own_is_passed_on(
    region: str, endpoint: str | None, passed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = boto3.client("s3", region_name=region, endpoint_url=endpoint)
    monkeypatch.setattr(client, "head_bucket", lambda **_: {"BucketRegion": "ap-south-1"})
    environ = s5cmd_environ(boto3.Session(), client, "b")
    assert (environ.get("S3_ENDPOINT_URL"), environ["AWS_REGION"]) == (passed, "ap-south-1")


@pytest.mark.usefixtures("session")
def test_fsx_is_asked_as_patiently_as_s3() -> None:
    """A task may run for an hour: one busy moment of FSx must not end the wait."""
    config: Any = module.make_tasks("fs-0123", print).client.meta.config
    assert config.retries["total_max_attempts"] == module.ATTEMPTS
