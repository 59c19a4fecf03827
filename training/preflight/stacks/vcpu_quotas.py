"""EC2's quotas for instances, which count virtual processors by family.

https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
"""

from __future__ import annotations

import re
from collections.abc import Collection

from training.aws.ec2 import Description, Ec2
from training.preflight.stacks.quota import Quota

GROUP_TAG = "aws:autoscaling:groupName"

STANDARD = Quota(
    "ec2",
    "L-1216C47A",
    "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
)
GRAPHICS = Quota("ec2", "L-DB2E81BA", "Running On-Demand G and VT instances")
ACCELERATED = Quota("ec2", "L-417A185B", "Running On-Demand P instances")
MEMORY = Quota("ec2", "L-7295265B", "Running On-Demand X instances")

SPOT_STANDARD = Quota(
    "ec2",
    "L-34B43A08",
    "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
)
SPOT_GRAPHICS = Quota("ec2", "L-3819A6DF", "All G and VT Spot Instance Requests")
SPOT_P4 = Quota("ec2", "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests")
SPOT_P5 = Quota("ec2", "L-C4BD4855", "All P5 Spot Instance Requests")
SPOT_MEMORY = Quota("ec2", "L-E3A00192", "All X Spot Instance Requests")

_STANDARD_LETTERS = frozenset("acdhimrtz")


def quota_of(instance_type: str, *, is_spot: bool) -> Quota | None:
    """Return the quota that an instance counts against; None where the pages above name none.

    That is so for P6 as spot instances, and for families with quotas of their own.
    """
    found = re.match(r"([a-z]+)(\d*)", instance_type)
    letters, generation = (found.group(1), found.group(2)) if found else ("", "")
    if letters == "p":
        if not is_spot:
            return ACCELERATED
        return {"2": SPOT_P4, "3": SPOT_P4, "4": SPOT_P4, "5": SPOT_P5}.get(generation)
    if letters in ("g", "gr", "vt"):
        return SPOT_GRAPHICS if is_spot else GRAPHICS
    if letters == "x":
        return SPOT_MEMORY if is_spot else MEMORY
    if letters[:1] in _STANDARD_LETTERS and letters not in ("hpc", "dl", "inf", "trn", "mac"):
        return SPOT_STANDARD if is_spot else STANDARD
    return None


def vcpus_used(ec2: Ec2, quota: Quota, *, without_groups: Collection[str] = ()) -> int:
    """Return the virtual processors of running instances that count against a quota.

    Args:
        ec2: Of the account and region.
        quota: One that `quota_of` returns.
        without_groups: Names of auto-scaling groups whose instances are left out.
    """
    types = [
        str(each["InstanceType"])
        for each in ec2.running_instances()
        if _counts(each, quota) and _group(each) not in without_groups
    ]
    vcpus = ec2.vcpus(types)
    return sum(vcpus.get(name, 0) for name in types)


def _counts(instance: Description, quota: Quota) -> bool:
    lifecycle = instance.get("InstanceLifecycle")
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-limits.html
    if lifecycle == "capacity-block":
        return False
    return quota_of(instance["InstanceType"], is_spot=lifecycle == "spot") == quota


def _group(instance: Description) -> str | None:
    tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}
    return tags.get(GROUP_TAG)
