"""How many instances EC2 has: of a type in a zone, and in a capacity reservation.

EC2 runs out of GPUs. Say so here with a parameter of Systems Manager, which local AWS reads:

    aws ssm put-parameter --type String --name /localaws/capacity/p4d.24xlarge --value 2
"""

from __future__ import annotations

from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS
from moto.ssm.exceptions import ParameterNotFound
from moto.ssm.models import ssm_backends

PARAMETER = "/localaws/capacity/"
"""And the instance type: how many instances of it run at most, in the whole region."""


def check_offered(instance_type: str, region: str, zone: str) -> None:
    """Refuse a type where the zone does not have it.

    Types that EC2 no longer lists (P2, P3) are in no list of ours and pass.

    Raises:
        EC2ClientError: `Unsupported`.
    """
    zones = {
        each["Location"]
        for each in INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, [])
        if each["InstanceType"] == instance_type
    }
    if zones and zone not in zones:
        raise EC2ClientError(
            "Unsupported",
            f"Your requested instance type ({instance_type}) is not supported in your requested "
            f"Availability Zone ({zone}). Please retry your request by not specifying an "
            f"Availability Zone or choosing {', '.join(sorted(zones))}.",
        )


def check_left(account: str, region: str, zone: str, instance_type: str, running: int) -> None:
    """Refuse one more instance where as many run as there are.

    Raises:
        EC2ClientError: `InsufficientInstanceCapacity`.
    """
    most = _most(account, region, instance_type)
    if most is not None and running >= most:
        raise EC2ClientError(
            "InsufficientInstanceCapacity",
            f"We currently do not have sufficient {instance_type} capacity in the Availability "
            f"Zone you requested ({zone}). Our system will be working on provisioning additional "
            "capacity.",
        )


def _most(account: str, region: str, instance_type: str) -> int | None:
    try:
        found = ssm_backends[account][region].get_parameter(f"{PARAMETER}{instance_type}")
    except ParameterNotFound:
        return None
    return int(found.value) if found else None


def check_reservation(reservation: Any, reservation_id: str, instance_type: str, zone: str) -> None:
    """Refuse an instance that a capacity reservation has no place for.

    Args:
        reservation: As DescribeCapacityReservations shows it; None where there is none of the id.
        reservation_id: What was asked for.
        instance_type: Of the instance.
        zone: Of the instance.

    Raises:
        EC2ClientError: Why.
    """
    if reservation is None or reservation["State"] != "active":
        raise EC2ClientError(
            "InvalidCapacityReservationId.NotFound",
            f"The capacity reservation ID '{reservation_id}' does not exist or is not active",
        )
    if (reservation["InstanceType"], reservation["AvailabilityZone"]) != (instance_type, zone):
        raise EC2ClientError(
            "InvalidParameterValue",
            f"The capacity reservation {reservation_id} is for {reservation['InstanceType']} in "
            f"{reservation['AvailabilityZone']}, not for {instance_type} in {zone}",
        )
    if reservation["AvailableInstanceCount"] < 1:
        raise EC2ClientError(
            "ReservationCapacityExceeded",
            f"The requested reservation {reservation_id} does not have sufficient compatible and "
            "available capacity for this request",
        )
