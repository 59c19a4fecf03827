"""The metadata service of a host."""

from __future__ import annotations

import json

import pytest

from tests.localaws.hosts.conftest import Cloud

pytestmark = [pytest.mark.root, pytest.mark.slow]

CURL = "curl -sS --max-time 5 -w ' %{http_code}' "
LATEST = "http://169.254.169.254/latest"


def ask(cloud: Cloud, host: str, path: str, *more: str) -> tuple[str, int]:
    """Return what the service answers to a request with a token, and its code."""
    token = f"T=$(curl -sS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' {LATEST}/api/token)"
    get = f'{CURL} -H "X-aws-ec2-metadata-token: $T" {LATEST}/{path}'
    text, _, code = cloud.run(host, token, get, *more).rpartition(" ")
    return text, int(code)


def test_version_1_is_refused(cloud: Cloud, host: str) -> None:
    assert cloud.run(host, f"{CURL} {LATEST}/meta-data/instance-id") == "401"
    assert cloud.run(host, f"{CURL} -X PUT {LATEST}/api/token") == "400"


def test_tells_a_host_what_it_is(cloud: Cloud, host: str) -> None:
    assert ask(cloud, host, "meta-data/instance-id") == (host, 200)
    assert ask(cloud, host, "meta-data/placement/availability-zone") == ("us-east-1a", 200)
    mac, _ = ask(cloud, host, "meta-data/mac")
    interface, _ = ask(cloud, host, f"meta-data/network/interfaces/macs/{mac}/interface-id")
    assert interface.startswith("eni-")
    assert mac in cloud.run(host, "cat /sys/class/net/eth0/address")


def test_says_what_a_tag_sets_and_nothing_before(cloud: Cloud, host: str) -> None:
    assert ask(cloud, host, "meta-data/spot/instance-action") == ("", 404)
    notice = json.dumps({"action": "terminate", "time": "2030-01-01T00:00:00Z"})
    tag = {"Key": "localaws:metadata/spot/instance-action", "Value": notice}
    ec2 = cloud.aws.client("ec2")
    ec2.create_tags(Resources=[host], Tags=[tag])
    assert ask(cloud, host, "meta-data/spot/instance-action") == (notice, 200)
    ec2.delete_tags(Resources=[host], Tags=[tag])
    assert ask(cloud, host, "meta-data/spot/instance-action") == ("", 404)


def test_gives_the_roles_credentials(cloud: Cloud, host: str) -> None:
    role, _ = ask(cloud, host, "meta-data/iam/security-credentials/")
    assert role == "node"
    given, _ = ask(cloud, host, f"meta-data/iam/security-credentials/{role}")
    assert json.loads(given)["Code"] == "Success"
