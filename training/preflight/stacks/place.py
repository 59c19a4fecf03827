"""Where the stacks are to be deployed, and by whom."""

from __future__ import annotations

from dataclasses import dataclass

from training.aws.clients import Clients
from training.aws.sts import Identity


@dataclass(frozen=True)
class Place:
    """An account and region that answer."""

    identity: Identity
    region: str
    qualifier: str
    """Of the CDK's bootstrap stack."""
    environment_region: str | None
    """The region of the profile or environment; None where there is none."""
    clients: Clients
    """Of the region."""
