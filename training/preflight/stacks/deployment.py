"""Settings and place together: what several checks need of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from training.outputs import NetworkOutputs, StorageOutputs
from training.preflight.peers import Members
from training.preflight.stacks.deployer import Deployer
from training.preflight.stacks.file_system_vpc import JobsVpc
from training.preflight.stacks.own import OwnResources
from training.preflight.stacks.place import Place
from training.preflight.stacks.planned_zones import PlannedZones
from training.preflight.stacks.quota import Quota, QuotaSuffices
from training.preflight.stacks.subnet import NamedSubnet

if TYPE_CHECKING:
    from stacks.settings import Settings

NETWORK, STORAGE = NetworkOutputs.STACK, StorageOutputs.STACK


@dataclass(frozen=True)
class Deployment:
    """What is to be deployed, and where."""

    context: Mapping[str, Any]
    """From which the settings were read."""
    settings: Settings
    place: Place

    @property
    def zones(self) -> PlannedZones:
        """Of the private subnets."""
        network = self.settings.network
        return PlannedZones(network.zone_names, network.number_of_zones)

    @property
    def zones_key(self) -> str:
        """The setting that names them."""
        return "private_subnets" if self.settings.network.vpc_id else "availability_zones"

    def own(self, stack: str) -> OwnResources:
        """Return what a stack of ours has made already."""
        return OwnResources(self.place.clients.cloudformation, stack)

    @property
    def named(self) -> dict[str, list[str]]:
        """Setting to the ids of what it names as existing, where it names anything."""
        settings = self.settings
        network, efs, fsx = settings.network, settings.efs, settings.fsx
        named: dict[str, list[str | None]] = {
            "vpc_id": [network.vpc_id],
            "private_subnets": [subnet.subnet_id for subnet in network.private_subnets],
            "public_subnets": [subnet.subnet_id for subnet in network.public_subnets],
            "training_security_group_id": [network.training_security_group_id],
            "bucket_name": [settings.bucket.name],
            "efs_id": [efs.file_system_id],
            "efs_security_group_id": [efs.security_group_id],
            "fsx_id": [fsx.file_system_id],
            "fsx_security_group_id": [fsx.security_group_id],
        }
        given = {key: [each for each in ids if each] for key, ids in named.items()}
        return {key: ids for key, ids in given.items() if ids}

    @property
    def jobs_vpc(self) -> JobsVpc:
        return JobsVpc(self.settings.network.vpc_id, self.place.clients.cloudformation)

    @property
    def jobs(self) -> Members | None:
        """Jobs, where their security group exists already."""
        network = self.settings.network
        if network.training_security_group_id is None:
            return None
        subnet_ids = [subnet.subnet_id for subnet in network.private_subnets]
        return Members(network.training_security_group_id, subnet_ids)

    @property
    def deployer(self) -> Deployer:
        place = self.place
        return Deployer(place.clients.iam, place.identity, place.region, place.qualifier)

    @property
    def links_bucket(self) -> bool:
        """Whether a new FSx file system is linked to the bucket."""
        return self.settings.fsx.is_new and self.settings.fsx.bucket_link != "none"

    def subnets(self, kind: Literal["private", "public"]) -> list[NamedSubnet]:
        """Return the subnets of an existing VPC that the settings name."""
        network = self.settings.network
        named = network.private_subnets if kind == "private" else network.public_subnets
        return [
            NamedSubnet(each.subnet_id, each.zone, each.route_table_id, f"{kind}_subnets")
            for each in named
        ]

    def quota(
        self,
        limit: Quota,
        *,
        wanted: float,
        count_used: Callable[[], float],
        key: str,
        alternative: str,
    ) -> QuotaSuffices:
        """Return the check of one quota."""
        return QuotaSuffices(
            service_quotas=self.place.clients.service_quotas,
            region=self.place.region,
            quota=limit,
            wanted=wanted,
            count_used=count_used,
            key=key,
            alternative=alternative,
        )
