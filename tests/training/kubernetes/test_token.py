from __future__ import annotations

import base64
import contextlib
import io
import json
import os
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from training.kubernetes.token import PREFIX, credential


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


def _url(token: str) -> str:
    text = token.removeprefix(PREFIX)
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def _parts(token: str) -> tuple[str, dict[str, list[str]]]:
    """Return where a token's request goes and what it has but for time and signature."""
    url = urlsplit(_url(token))
    query = parse_qs(url.query)
    for name in ("X-Amz-Date", "X-Amz-Signature"):
        assert query.pop(name)
    return f"{url.scheme}://{url.netloc}{url.path}", query


def test_the_token_is_what_the_aws_cli_makes() -> None:
    from awscli.clidriver import create_clidriver

    made = credential("mask-rcnn", boto3.client("sts", region_name="us-west-2"), datetime.now(UTC))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = create_clidriver().main(
            ["eks", "get-token", "--cluster-name", "mask-rcnn", "--region", "us-west-2"]
        )
    assert code == 0
    theirs = json.loads(printed.getvalue())
    ours = made["status"]["token"]
    assert ours.startswith(PREFIX)
    assert _parts(ours) == _parts(theirs["status"]["token"])
    assert _parts(ours)[1]["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]


def test_the_token_is_made_anew_before_the_cluster_refuses_it() -> None:
    client = boto3.client("sts", region_name="us-west-2")
    made = credential("mask-rcnn", client, datetime(2026, 1, 1, 12, 0, tzinfo=UTC))
    assert made["status"]["expirationTimestamp"] == "2026-01-01T12:14:00Z"
    assert made["kind"] == "ExecCredential"
