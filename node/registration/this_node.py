"""What is registered of this instance."""

from __future__ import annotations

import json
import time

from .. import gpus, paths
from ..config import NodeConfig
from ..metadata import Metadata
from ..registrations import Registration


def describe(config: NodeConfig, metadata: Metadata, slots: int) -> Registration:
    """Return this node's registration, ready as of now.

    Raises:
        NodeError: The instance's metadata cannot be had.
    """
    return Registration(
        instance_id=metadata.must("instance-id"),
        role=config.role,
        address=metadata.must("local-ipv4"),
        slots=slots,
        instance_type=metadata.must("instance-type"),
        zone=metadata.must("placement/availability-zone"),
        time=time.time(),
        state="ready",
    )


def count_slots(config: NodeConfig) -> int:
    """Return the training processes that this machine takes.

    Raises:
        NodeError: It has GPUs and no driver that works.
    """
    return gpus.slots(config.role)


def reason_to_leave() -> str | None:
    """Return why AWS takes this instance away, or None while it does not."""
    try:
        value = json.loads(paths.LEAVING.read_text(encoding="utf-8"))
        return str(value["reason"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return "AWS takes the instance away"
