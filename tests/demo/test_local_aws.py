"""Nothing of the demo can reach a real account."""

from __future__ import annotations

import os

import pytest

from demo.local_aws import check_is_loopback, seal
from training.errors import UsageError

LOCAL = {"AWS_ENDPOINT_URL": "http://127.0.0.1:5566", "AWS_ACCESS_KEY_ID": "example"}


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:5566", "http://127.8.0.1:80", "http://[::1]:5566"]
)
def test_addresses_of_this_machine_pass(endpoint: str) -> None:
    check_is_loopback(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "127.0.0.1:5566",
        "https://s3.amazonaws.com",
        "http://10.0.0.7:5566",
        "http://0.0.0.0:5566",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://127.0.0.1@example.com",
    ],
)
def test_any_other_endpoint_is_refused_by_name(endpoint: str) -> None:
    with pytest.raises(UsageError, match="never talks to a real account") as caught:
        check_is_loopback(endpoint)
    assert repr(endpoint) in str(caught.value)


def test_the_users_own_settings_for_aws_do_not_get_through() -> None:
    sealed = seal(
        {
            "PATH": "/usr/bin",
            "AWS_PROFILE": "production",
            "AWS_SESSION_TOKEN": "secret",
            "AWS_ENDPOINT_URL_S3": "https://s3.example.com",
            "CDK_DEFAULT_ACCOUNT": "210987654321",
            "MASK_RCNN_MOUNTS": "/mnt",
        },
        LOCAL,
    )
    ours = {name: value for name, value in sealed.items() if name.startswith(("AWS_", "CDK_"))}
    assert ours == LOCAL | {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
    }
    assert "MASK_RCNN_MOUNTS" not in sealed
    assert sealed["PATH"] == "/usr/bin"


@pytest.mark.parametrize(
    ("own", "expected"),
    [({}, "127.0.0.1,localhost"), ({"no_proxy": "corp"}, "127.0.0.1,localhost,corp")],
)
def test_a_proxy_does_not_see_requests_to_this_machine(own: dict[str, str], expected: str) -> None:
    sealed = seal({"HTTP_PROXY": "http://proxy:3128", **own}, LOCAL)
    assert sealed["NO_PROXY"] == sealed["no_proxy"] == expected
    assert sealed["HTTP_PROXY"] == "http://proxy:3128"
