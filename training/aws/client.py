"""Makes clients: the only place that imports boto3, and only when one is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from training.aws.errors import translated
from training.errors import UsageError
from training.trace import is_wanted, trace

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.config import Config

CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 60.0
ATTEMPTS = 2
"""Of each request. With CONNECT_TIMEOUT_S, an endpoint that is not there is known within 5 s, and
where its port is closed, as with a local AWS that does not run, within one."""


def new_session(*, region: str | None = None, profile: str | None = None) -> Session:
    """Return a session for a profile and region, or for those of the environment.

    Its clients, and those that find its credentials, know an answer that is not of AWS.

    Raises:
        AwsError: The profile is not known.
    """
    import boto3
    import botocore.session

    from training.aws.answers import WaryParserFactory

    parts = botocore.session.get_session()
    parts.register_component("response_parser_factory", WaryParserFactory())
    if is_wanted():
        trace(parts)
    # For the clients that botocore makes itself, to get credentials.
    parts.set_default_client_config(_config(READ_TIMEOUT_S, ATTEMPTS))
    # The CLI and other SDKs read this one; boto3 alone knows only AWS_DEFAULT_REGION.
    region = region or os.environ.get("AWS_REGION") or None
    with translated():
        return boto3.Session(region_name=region, profile_name=profile, botocore_session=parts)


def find_credentials(session: Session) -> None:
    """Find the credentials that requests will be signed with; that there are none is told then.

    Some come from a person, who types a code, or from a program that asks one: this is for
    commands that count the time of what comes after.

    Raises:
        AwsError: They cannot be had.
    """
    with translated():
        credentials = session.get_credentials()
        if credentials is not None:
            credentials.get_frozen_credentials()


def new_client(
    session: Session,
    service: str,
    *,
    region: str | None = None,
    read_timeout_s: float = READ_TIMEOUT_S,
    attempts: int = ATTEMPTS,
) -> Any:
    """Return a client, with timeouts that a command line can bear.

    Args:
        session: Credentials and region. `AWS_ENDPOINT_URL` chooses a local AWS.
        service: As boto3 names it, such as `cloudformation`.
        region: Another than the session's.
        read_timeout_s: How long an answer may take to come.
        attempts: Of each request, where the answer is missing, or asks to go slower.

    Raises:
        AwsError: There is no region.
        UsageError: AWS_ENDPOINT_URL is not an address.
    """
    from botocore.exceptions import NoRegionError

    config = _config(read_timeout_s, attempts)
    try:
        with translated():
            if not region and session.region_name == "":
                # Of AWS_DEFAULT_REGION without a word, with which botocore would make an address.
                raise NoRegionError
            return session.client(  # type: ignore[call-overload]
                service, region_name=region, config=config
            )
    except ValueError as error:
        # Of an AWS_ENDPOINT_URL that is no address.
        raise UsageError(f"{service}: {error}") from error


def _config(read_timeout_s: float, attempts: int) -> Config:
    from botocore.config import Config

    return Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": attempts},
    )


def where(client: Any) -> str:
    """Return where a client's requests go, for messages: a local endpoint, or a region of AWS."""
    endpoint, region = str(client.meta.endpoint_url), client.meta.region_name
    return f"AWS in {region}" if is_of_aws(client) else f"{endpoint} ({region})"


def is_of_aws(client: Any) -> bool:
    """Return whether a client's requests go to AWS itself."""
    return ".amazonaws.com" in str(client.meta.endpoint_url)
