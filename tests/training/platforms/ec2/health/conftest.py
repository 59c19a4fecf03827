"""An AWS that answers as a test says."""

from __future__ import annotations

from tests.training.preflight.stacks.conftest import (
    aws,
    clients,
    session,
    stub,
    stubbed_clients,
)

__all__ = ["aws", "clients", "session", "stub", "stubbed_clients"]
