"""Clients for the local AWS itself: resources are made as any other program would make them."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.utilities.utils import get_partition

from localaws.environment import ACCOUNT_ID

_endpoint = ""
_making = threading.Lock()


def use_endpoint(endpoint: str) -> None:
    """Set where the services are."""
    global _endpoint  # noqa: PLW0603
    _endpoint = endpoint


class Aws:
    """The services of one region."""

    account_id = ACCOUNT_ID

    def __init__(self, region: str) -> None:
        self.region = region

    @property
    def partition(self) -> str:
        return str(get_partition(self.region))

    @property
    def url_suffix(self) -> str:
        return "amazonaws.com.cn" if self.partition == "aws-cn" else "amazonaws.com"

    def client(self, service: str) -> Any:
        """Return a client; services beyond those of boto3-stubs have no type to name here."""
        # boto3's default session is not safe to make clients with from several threads.
        with _making:
            return _client(service, self.region, _endpoint)

    @property
    def ec2(self) -> Any:
        return self.client("ec2")


@lru_cache
def _client(service: str, region: str, endpoint: str) -> Any:
    return boto3.client(  # type: ignore[call-overload]
        service,
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id="cloudformation",
        aws_secret_access_key="local",  # noqa: S106
        config=Config(retries={"max_attempts": 0}, max_pool_connections=32),
    )


def is_gone(error: Exception) -> bool:
    """Return whether a service says that it does not have what it was asked for."""
    if not isinstance(error, ClientError):
        return False
    found = error.response.get("Error", {})
    code, message = found.get("Code", ""), found.get("Message", "")
    if code == "ValidationException":
        # SageMaker has no other code for it.
        return any(text in message for text in _GONE)
    return "NotFound" in code or code.startswith("NoSuch") or code in _GONE_CODES


_GONE_CODES = ("InvalidDocument", "InvalidPlacementGroup.Unknown")

_GONE = ("RecordNotFound", "Cannot find", "Config does not exist")
