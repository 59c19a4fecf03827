"""Who launches, and where: what checks that ask AWS need to know first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from training.aws.client import find_credentials, where
from training.aws.clients import Clients
from training.aws.errors import AwsUnreachable
from training.aws.sts import Identity
from training.preflight.in_time import in_time

if TYPE_CHECKING:
    from boto3.session import Session

READ_TIMEOUT_S = 20.0
ATTEMPTS = 4
"""Many requests at once may be asked to slow down; botocore then waits and asks again."""


@dataclass(frozen=True)
class Whereabouts:
    """The account and region that a job would run in."""

    identity: Identity
    region: str
    clients: Clients


def find_whereabouts(session: Session, *, time_limit_s: float) -> Whereabouts:
    """Ask whose credentials these are.

    Raises:
        AwsError: Nobody answers in time, or they are not accepted.
    """
    find_credentials(session)
    clients = Clients(session, None, read_timeout_s=READ_TIMEOUT_S, attempts=ATTEMPTS)
    late = AwsUnreachable(
        f"{where(clients.boto('sts'))}: did not say within {time_limit_s:g} s whose credentials "
        "these are. Check the network, a proxy (HTTPS_PROXY) and AWS_ENDPOINT_URL"
    )
    identity = in_time(clients.sts.identity, time_limit_s=time_limit_s, late=late)
    return Whereabouts(identity, clients.region, clients)
