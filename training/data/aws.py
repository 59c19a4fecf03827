"""The AWS clients that copies use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from training.aws.client import new_client, new_session
from training.aws.cloudformation import read_outputs_from_cloudformation
from training.aws.errors import translated
from training.outputs import Outputs, StorageOutputs

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

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


def read_storage_outputs() -> Outputs:
    """Read StorageStack's outputs from CloudFormation.

    Raises:
        AwsError: AWS refused or could not be reached.
    """
    client = new_client(new_session(), "cloudformation")
    return read_outputs_from_cloudformation(client, [StorageOutputs.STACK])
