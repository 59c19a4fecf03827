"""Whether a new VPC's private subnets have addresses for what is to be in them."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from stacks.settings.fsx import FsxSettings
from stacks.settings.network import NetworkSettings
from stacks.settings.subnet_plan import LARGEST_VPC
from training.addresses import AddressNeed, addresses_of_instance, addresses_of_lustre


def problems_of_room(network: NetworkSettings, fsx: FsxSettings) -> Iterator[str]:
    """Yield whether a cluster's subnet is too small, and what would do.

    How full an existing VPC is cannot be told here: `python -m training.preflight --stacks` asks.
    """
    if network.vpc_id:
        return
    subnet = _subnet_of_jobs(network, fsx)
    need = _need(network, fsx)
    if need.total > subnet.num_addresses:
        yield (
            f"{_who(network)} needs {need.total} addresses in one private subnet ({need}), and "
            f"{subnet} has {subnet.num_addresses}: {_what_would_do(network, need)}"
        )


def _subnet_of_jobs(network: NetworkSettings, fsx: FsxSettings) -> IPv4Network:
    """Return FSx's subnet, where all jobs are that use it; without FSx, the largest."""
    private = network.subnet_plan.private
    if fsx.is_wanted and fsx.zone <= len(private):
        return private[fsx.zone - 1]
    return min(private, key=lambda subnet: subnet.prefixlen)


def _need(network: NetworkSettings, fsx: FsxSettings) -> AddressNeed:
    instance, count = network.planned_instance, network.planned_instance_count
    return AddressNeed(
        instances=addresses_of_instance(instance) * count if instance and count else 0,
        lustre=addresses_of_lustre(fsx.capacity_gib) if fsx.is_new else 0,
        mount_target=1,
        # Counted for every subnet: those of the first zones have them.
        interface_endpoints=len(network.endpoint_names),
        notebook=1,
    )


def _who(network: NetworkSettings) -> str:
    if network.planned_instance_type is None:
        return "what the stacks make"
    return (
        f"planned_instance_count = {network.planned_instance_count} of "
        f"{network.planned_instance_type}"
    )


def _what_would_do(network: NetworkSettings, need: AddressNeed) -> str:
    if network.private_subnet_cidrs:
        return f"make it /{need.prefix_length} or larger in private_subnet_cidrs"
    prefix_length = need.prefix_length - network.cut.private_bits
    if prefix_length < LARGEST_VPC:
        return "the largest VPC, cut so, does not have them: plan fewer instances"
    return f"take vpc_cidr of /{prefix_length} or larger, now {network.vpc_cidr}"
