"""What EKS takes of a launch template, and what it refuses.

https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Request = Mapping[str, Any]


def problems_of_launch(data: Request, group: Request) -> Iterator[str]:
    """Yield what EKS would refuse.

    Args:
        data: Of the template's version.
        group: The request for the node group.
    """
    for name in ("IamInstanceProfile", "InstanceInitiatedShutdownBehavior", "HibernationOptions"):
        if data.get(name):
            yield f"Launch template must not specify {name}."
    if any(each.get("SubnetId") for each in data.get("NetworkInterfaces", [])):
        yield "Launch template must not specify a subnet in its network interfaces."
    if data.get("InstanceType") and group.get("instanceTypes"):
        yield "Instance types must be in the launch template or in the request, not in both."
    if data.get("ImageId") and group.get("amiType", "CUSTOM") != "CUSTOM":
        yield "You cannot specify an AMI type and an image id within the launch template."
    yield from _problems_of_market(data, group.get("capacityType", "ON_DEMAND"))


def _problems_of_market(data: Request, capacity_type: str) -> Iterator[str]:
    market = data.get("InstanceMarketOptions", {}).get("MarketType")
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget")
    if capacity_type != "CAPACITY_BLOCK":
        if market:
            yield "Launch template must not specify InstanceMarketOptions."
    elif market != "capacity-block" or not target or not data.get("InstanceType"):
        yield (
            "A node group with capacity type CAPACITY_BLOCK needs a launch template with the "
            "market type capacity-block, a capacity reservation target and an instance type."
        )
