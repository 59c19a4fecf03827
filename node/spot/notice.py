"""The notices in the instance's metadata."""

from __future__ import annotations

import json

from ..metadata import Metadata

SPOT_ACTION = "spot/instance-action"
"""https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html: there
two minutes before a spot instance is interrupted."""
LIFECYCLE = "autoscaling/target-lifecycle-state"
"""https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html:
`Terminated` once the group ends this instance."""
REBALANCE = "events/recommendations/rebalance"
"""A risk only: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html"""


def reason_to_leave(metadata: Metadata) -> str | None:
    """Return why AWS takes this instance away, or None while it does not.

    Raises:
        NodeError: The metadata service does not answer.
    """
    action = metadata.get(SPOT_ACTION)
    if action is not None:
        return _spot_reason(action)
    if metadata.get(LIFECYCLE) == "Terminated":
        return "the auto-scaling group ends this instance"
    return None


def rebalance_recommendation(metadata: Metadata) -> str | None:
    """Return AWS's word that this spot instance is likelier than others to be interrupted.

    Raises:
        NodeError: The metadata service does not answer.
    """
    return metadata.get(REBALANCE)


def _spot_reason(text: str) -> str:
    """Whatever the notice says, it is one."""
    try:
        notice = json.loads(text)
        return f"spot interruption: {notice['action']} at {notice['time']}"
    except (ValueError, KeyError, TypeError):
        return f"spot interruption: {text[:200]}"
