"""The AWS clients that copies use."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from training.aws.client import new_client, new_session
from training.aws.cloudformation import read_outputs_from_cloudformation
from training.aws.errors import translated
from training.data.bulk import Bulk, NoBulk, S5cmdBulk
from training.data.lock import Tell
from training.data.lustre_task import Tasks
from training.data.s5cmd import S5cmd, find_binary
from training.outputs import Outputs, StorageOutputs

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_s3 import S3Client

_PASSED_ON = frozenset(
    name
    for lower in ("http_proxy", "https_proxy", "no_proxy", "aws_ca_bundle", "path", "tmpdir")
    for name in (lower, lower.upper())
) | {"AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT", "SSL_CERT_FILE", "SSL_CERT_DIR"}
"""Of this process's variables: how the network is reached."""

ATTEMPTS = 8
"""Of each request: a long copy outlives what an interactive command would report at once."""


def make_s3_client(*, connections: int) -> S3Client:
    """Return a client that slows down where S3 throttles, with a connection for each thread.

    Raises:
        AwsError: There is no region.
    """
    from botocore.config import Config

    config = Config(
        connect_timeout=5,
        max_pool_connections=connections,
        retries={"mode": "adaptive", "total_max_attempts": ATTEMPTS},
    )
    with translated():
        return new_session().client("s3", config=config)


def make_bulk(client: S3Client) -> Bulk:
    """Return what copies many small files at once: s5cmd, where its package is installed.

    Args:
        client: What the rest of the copy uses.
    """
    binary = find_binary()
    if binary is None:
        return NoBulk()
    session = new_session()
    return S5cmdBulk(S5cmd(binary, lambda bucket: s5cmd_environ(session, client, bucket)))


def s5cmd_environ(session: Session, client: S3Client, bucket: str) -> dict[str, str]:
    """Return the environment in which s5cmd does what the client does.

    s5cmd knows fewer kinds of credentials and of settings than boto3 (no IAM Identity Center, no
    endpoint in a profile), so it gets what boto3 found, and reads no file of its own.
    """
    with translated():
        credentials = session.get_credentials()
        found = credentials.get_frozen_credentials() if credentials else None
        region = client.head_bucket(Bucket=bucket).get("BucketRegion") or client.meta.region_name
    passed = {key: value for key, value in os.environ.items() if key in _PASSED_ON}
    values = {
        "AWS_SDK_LOAD_CONFIG": "0",
        "AWS_REGION": region,
        "AWS_ACCESS_KEY_ID": found.access_key if found else None,
        "AWS_SECRET_ACCESS_KEY": found.secret_key if found else None,
        "AWS_SESSION_TOKEN": found.token if found else None,
        "S3_ENDPOINT_URL": _own_endpoint(client),
    }
    return passed | {key: value for key, value in values.items() if value}


def _own_endpoint(client: S3Client) -> str | None:
    """Return the endpoint, or None where it is the one that a region has by itself."""
    endpoint = client.meta.endpoint_url
    usual = rf"https://s3(\.{re.escape(client.meta.region_name)})?\.amazonaws\.com(\.cn)?"
    return None if re.fullmatch(usual, endpoint) else endpoint


def make_tasks(file_system_id: str, tell: Tell) -> Tasks:
    """Return what runs the data repository tasks of an FSx file system.

    Raises:
        AwsError: There is no region.
    """
    client = new_client(new_session(), "fsx", attempts=ATTEMPTS)
    return Tasks(client, file_system_id, tell)


def read_storage_outputs() -> Outputs:
    """Read StorageStack's outputs from CloudFormation.

    Raises:
        AwsError: AWS refused or could not be reached.
    """
    client = new_client(new_session(), "cloudformation")
    return read_outputs_from_cloudformation(client, [StorageOutputs.STACK])
