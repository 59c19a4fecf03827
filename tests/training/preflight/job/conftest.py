"""An AWS in this process, as the checks of the stacks have it."""

from tests.training.preflight.stacks.conftest import (
    aws,
    clients,
    network,
    session,
    stub,
    stubbed_clients,
)

__all__ = ["aws", "clients", "network", "session", "stub", "stubbed_clients"]
