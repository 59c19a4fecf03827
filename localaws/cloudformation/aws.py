"""Clients for the local AWS itself: resources are made as any other program would make them."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

import boto3
from botocore.config import Config

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
