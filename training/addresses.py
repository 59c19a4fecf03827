"""How many private IPv4 addresses a cluster and its file systems take in one subnet.

A job's instances are in one zone: EFA does not leave a subnet, and FSx for Lustre is in one zone.
So one private subnet has to hold all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from training.instances import Instance

RESERVED_BY_AWS = 5
"""The first four addresses of a subnet and the last.

https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
"""

PER_INSTANCE, PER_INSTANCE_WITH_EFA = 2, 5
"""What SageMaker asks for each training instance. EC2 itself takes one with EFA-only interfaces.

https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
"""

GIB_PER_LUSTRE_SERVER = 2400
"""Of SSD storage, persistent and scratch alike; one address each, and one for the metadata server.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/prerequisites.html
"""


@dataclass(frozen=True, kw_only=True)
class AddressNeed:
    """The addresses of one private subnet, by what takes them."""

    instances: int
    lustre: int
    mount_target: int
    """Of EFS: one a subnet."""
    interface_endpoints: int
    """One an endpoint in each subnet that it has."""
    notebook: int
    reserved: int = RESERVED_BY_AWS

    @property
    def total(self) -> int:
        return sum(self._parts().values())

    @property
    def prefix_length(self) -> int:
        """The smallest subnet that holds them: 28 for up to 16 addresses, 27 for up to 32, …"""
        return min(28, 32 - (self.total - 1).bit_length())

    def __str__(self) -> str:
        """Say what they are for, as in `instances 320, AWS itself 5`."""
        return ", ".join(f"{what} {count}" for what, count in self._parts().items() if count)

    def _parts(self) -> dict[str, int]:
        return {
            "instances": self.instances,
            "FSx for Lustre": self.lustre,
            "EFS": self.mount_target,
            "interface endpoints": self.interface_endpoints,
            "notebook": self.notebook,
            "AWS itself": self.reserved,
        }


def addresses_of_instance(instance: Instance) -> int:
    """Return how many addresses one instance takes; unknown EFA support counts as support."""
    return PER_INSTANCE if instance.efa_interfaces == 0 else PER_INSTANCE_WITH_EFA


def addresses_of_lustre(capacity_gib: int) -> int:
    """Return how many addresses the servers of an SSD file system take."""
    storage_servers = -(-capacity_gib // GIB_PER_LUSTRE_SERVER)
    return 1 + storage_servers
