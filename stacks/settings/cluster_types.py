"""Which EC2 instance types nodes of the cluster can have, and what those types want."""

from __future__ import annotations

import re
from collections.abc import Iterator

from training.errors import UsageError
from training.instances import Instance, find_instance, known_instance

_TYPE_WITHOUT_GPU = re.compile(r"(a|c|d|h|hpc|i|im|is|m|r|t|x|z)[0-9][a-z0-9-]*\.[a-z0-9-]+")
"""Of EC2's families, those for general use, computing, memory and storage."""

_GRAVITON = re.compile(r"a1|[a-z]+[0-9]+[a-z]*g[a-z]*")
"""m6g, c7gn, im4gn: AWS's own processors have a g after the generation."""

OF_CAPACITY_BLOCKS = ("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300")
"""Families sold in Capacity Blocks for ML.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

WITHOUT_AN_AMI = ("p2",)
"""Families whose GPUs no Deep Learning AMI of today drives: NVIDIA's drivers dropped Kepler with
branch 470. https://docs.nvidia.com/datacenter/tesla/drivers/"""


OF_OLD_AMIS = ("p3", "p3dn")
"""Families that only an AMI on Amazon Linux 2 drives: without Python 3.11."""


def problems_of_type(name: str) -> Iterator[str]:
    """Yield why a text is no type for a node, with what was meant if it comes close."""
    family = name.partition(".")[0]
    instance = known_instance(name)
    if name.startswith("ml."):
        yield f"EC2's names have no ml.: take {name.removeprefix('ml.')}"
    elif name != name.strip().lower():
        yield f"EC2's names are in small letters, without spaces: take {name.strip().lower()}"
    elif instance is None and not _TYPE_WITHOUT_GPU.fullmatch(name):
        try:
            find_instance(name)
        except UsageError as error:
            yield str(error)
    elif (instance and instance.architecture != "x86_64") or _GRAVITON.fullmatch(family):
        yield f"{family} has ARM processors, and the nodes' AMIs and images are for x86_64"


def gpus_of(name: str) -> int:
    """Return how many GPUs a type has; 0 without any."""
    instance = known_instance(name)
    return instance.gpus if instance else 0


def efa_interfaces_of(name: str) -> int:
    """Return how many Elastic Fabric Adapters a type takes."""
    instance: Instance | None = known_instance(name)
    return (instance.efa_interfaces or 0) if instance else 0


def is_put_close(choice: str | None, *, reservation: str | None, name: str) -> bool:
    """Tell whether nodes of a type are in a placement group: where nobody chose, those that can be
    and have no place yet, as reserved capacity has.
    """
    if choice is None:
        return reservation is None and takes_placement_group(name)
    return choice == "create"


def takes_placement_group(name: str) -> bool:
    """Tell whether a type can be in a cluster placement group: burstable and flex types cannot.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
    """
    family = name.partition(".")[0]
    return not (re.fullmatch(r"t[0-9][a-z]*", family) or family.endswith("-flex"))
