"""Finds out whose account answers, and whether it is the one to deploy to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from training.aws.client import where
from training.aws.clients import Clients
from training.aws.errors import AwsRefused, AwsUnreachable
from training.aws.sts import Identity
from training.errors import AwsError
from training.preflight.finding import Finding
from training.preflight.in_time import in_time
from training.preflight.stacks.account import AccountIsTheOneNamed, RegionIsEnabled
from training.preflight.stacks.bootstrap import DEFAULT_QUALIFIER, QUALIFIER_KEY
from training.preflight.stacks.place import Place

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from boto3.session import Session

    from stacks.settings import Settings
    from stacks.settings.general import GeneralSettings

READ_TIMEOUT_S = 20.0
ATTEMPTS = 4
"""Many requests at once may be asked to slow down; botocore then waits and asks again."""

_HOMES = {"aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}
"""Of each partition, a region that every account has; us-east-1 otherwise."""


@dataclass(frozen=True)
class Survey:
    """Where the stacks would go, and what already speaks against it."""

    place: Place | None
    """None where nothing more can be asked."""
    findings: list[Finding] = field(default_factory=list)


def survey(
    settings: Settings, session: Session, context: Mapping[str, Any], *, time_limit_s: float
) -> Survey:
    """Ask who answers.

    Raises:
        AwsError: Nobody does in time, or the credentials are not accepted.
    """
    general = settings.general
    region = general.aws_region or session.region_name
    clients = _clients(session, region)
    late = AwsUnreachable(
        f"{where(clients.boto('sts'))}: did not say within {time_limit_s:g} s whose credentials "
        "these are. Check the network, a proxy (HTTPS_PROXY) and AWS_ENDPOINT_URL, or allow more "
        "with --time-limit-s"
    )
    return in_time(
        lambda: _survey(general, session, context, region, clients),
        time_limit_s=time_limit_s,
        late=late,
    )


def _survey(
    general: GeneralSettings,
    session: Session,
    context: Mapping[str, Any],
    region: str | None,
    clients: Clients,
) -> Survey:
    try:
        identity = clients.sts.identity()
    except (AwsRefused, AwsUnreachable) as error:
        # A region that the account has not enabled knows none of its keys; one that is not there
        # has no address.
        findings = list(_why_region_fails(session, region, error)) if region else []
        if not findings:
            raise
        return Survey(None, findings)
    strangers = list(AccountIsTheOneNamed(identity=identity, account=general.aws_account).find())
    if strangers:
        return Survey(None, strangers)
    return Survey(_place(identity, session, clients, context))


def _place(
    identity: Identity, session: Session, clients: Clients, context: Mapping[str, Any]
) -> Place:
    return Place(
        identity=identity,
        region=clients.region,
        qualifier=str(context.get(QUALIFIER_KEY) or DEFAULT_QUALIFIER),
        environment_region=session.region_name,
        clients=clients,
    )


def _why_region_fails(session: Session, region: str, error: AwsError) -> Iterator[Finding]:
    """Yield why a region does not take credentials that another one takes."""
    home = _HOMES.get(_partition(session, region), "us-east-1")
    if region == home:
        return
    clients = _clients(session, home)
    try:
        clients.sts.identity()
    except AwsError:
        raise error from None
    yield from RegionIsEnabled(home=clients.ec2, region=region).find()


def _partition(session: Session, region: str) -> str:
    from botocore.exceptions import UnknownRegionError

    try:
        return str(session.get_partition_for_region(region))
    except UnknownRegionError:
        return "aws"


def _clients(session: Session, region: str | None) -> Clients:
    return Clients(session, region, read_timeout_s=READ_TIMEOUT_S, attempts=ATTEMPTS)
