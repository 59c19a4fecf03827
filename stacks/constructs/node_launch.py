"""What a node is launched with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aws_cdk import CfnTag, Fn
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.constructs.node_network import interfaces

Template = ec2.CfnLaunchTemplate

Market = Literal["on-demand", "spot", "capacity-block"]


@dataclass(frozen=True, kw_only=True)
class NodeLaunch:
    """One node's hardware, system and place."""

    name: str
    instance_type: str
    ami_id: str | None
    """None where EKS chooses it."""
    root_device: str
    """Of the AMI: another name would add a second disk and leave the first as it is."""
    volume_gib: int
    profile_arn: str | None
    """Of its role; None where EKS makes it."""
    security_group_ids: Sequence[str]
    efa: int
    """Elastic Fabric Adapters."""
    key_name: str | None = None
    market: Market = "on-demand"
    reservation_id: str | None = None
    placement_group: str | None = None
    public_address: bool = False
    """Of EC2's own, until the node takes an Elastic IP."""
    tags: Mapping[str, str]
    """Of instances, disks and network interfaces: those of a stack do not reach the latter two."""


def launch_template(
    scope: Construct, construct_id: str, *, launch: NodeLaunch, user_data: str | None
) -> ec2.CfnLaunchTemplate:
    """Return the launch template of a group.

    L1, since the L2 knows neither network cards nor reservations.
    """
    return Template(
        scope,
        construct_id,
        launch_template_data=Template.LaunchTemplateDataProperty(
            instance_type=launch.instance_type,
            image_id=launch.ami_id,
            iam_instance_profile=(
                Template.IamInstanceProfileProperty(arn=launch.profile_arn)
                if launch.profile_arn
                else None
            ),
            key_name=launch.key_name,
            user_data=Fn.base64(user_data) if user_data else None,
            metadata_options=Template.MetadataOptionsProperty(
                http_endpoint="enabled",
                http_tokens="required",
                # Training containers use the host's network, so the role's credentials reach them
                # in one hop, and no container with a network of its own.
                http_put_response_hop_limit=1,
            ),
            block_device_mappings=[_disk(launch)],
            network_interfaces=interfaces(
                instance_type=launch.instance_type,
                efa=launch.efa,
                groups=launch.security_group_ids,
                public_address=launch.public_address,
            ),
            placement=_placement(launch),
            instance_market_options=_market(launch.market),
            capacity_reservation_specification=_reservation(launch),
            tag_specifications=[
                Template.TagSpecificationProperty(
                    resource_type=resource_type, tags=_tags({**launch.tags, "Name": launch.name})
                )
                for resource_type in ("instance", "volume", "network-interface")
            ],
        ),
        tag_specifications=[
            Template.LaunchTemplateTagSpecificationProperty(
                resource_type="launch-template", tags=_tags(launch.tags)
            )
        ],
    )


def _disk(launch: NodeLaunch) -> Template.BlockDeviceMappingProperty:
    """Return the root disk, encrypted with the account's own key for EBS.

    Under a key of ours, the service-linked roles of Auto Scaling and Spot would need rights on it,
    and a new account has neither role when the key is made. What is on the disks can be made again.
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html
    """
    return Template.BlockDeviceMappingProperty(
        device_name=launch.root_device,
        ebs=Template.EbsProperty(
            volume_type="gp3",
            volume_size=launch.volume_gib,
            encrypted=True,
            delete_on_termination=True,
        ),
    )


def _placement(launch: NodeLaunch) -> Template.PlacementProperty | None:
    if launch.placement_group is None:
        return None
    return Template.PlacementProperty(group_name=launch.placement_group)


def _market(market: Market) -> Template.InstanceMarketOptionsProperty | None:
    """Return how a node is paid.

    Not by a mixed instances policy: ranks wait for each other, so that all workers are of one
    type, and such a policy would have nothing to mix.
    """
    if market == "on-demand":
        return None
    spot = Template.SpotOptionsProperty(spot_instance_type="one-time") if market == "spot" else None
    return Template.InstanceMarketOptionsProperty(market_type=market, spot_options=spot)


def _reservation(launch: NodeLaunch) -> Template.CapacityReservationSpecificationProperty | None:
    """Return the reservation that nodes run in.

    https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html
    """
    if launch.reservation_id is None:
        return None
    return Template.CapacityReservationSpecificationProperty(
        capacity_reservation_target=Template.CapacityReservationTargetProperty(
            capacity_reservation_id=launch.reservation_id
        )
    )


def _tags(tags: Mapping[str, str]) -> list[CfnTag]:
    return [CfnTag(key=key, value=value) for key, value in tags.items()]
