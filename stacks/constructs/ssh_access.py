"""The way to the head over SSH, for those who want one."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.settings.cluster_rules import is_open

_OPEN_RULES = ("AwsSolutions-EC23", "NIST.800.53.R5-EC2RestrictedSSH")


class SshAccess(Construct):
    """A security group that admits SSH from some networks, and the head's lasting address.

    Attributes:
        security_group: Of the head alone.
        address: Public.
        allocation_id: Of the address; the head's set-up takes it on.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        locations: Sequence[IPv4Network | IPv6Network],
    ) -> None:
        super().__init__(scope, construct_id)
        self.security_group = ec2.SecurityGroup(
            self,
            "Group",
            vpc=vpc,
            description="SSH to the head of the cluster",
            allow_all_outbound=False,
        )
        for location in locations:
            ip = ec2.Peer.ipv4 if location.version == 4 else ec2.Peer.ipv6
            self.security_group.add_ingress_rule(
                ip(str(location)), ec2.Port.tcp(22), "SSH from where cluster_ssh_location says"
            )
        if any(is_open(location) for location in locations):
            self._accept_open_ssh()
        # L1: CDK has no L2 of them. It is released with the stack.
        address = ec2.CfnEIP(self, "Address", domain="vpc")
        self.address = address.attr_public_ip
        self.allocation_id = address.attr_allocation_id

    def _accept_open_ssh(self) -> None:
        """Accept what cdk-nag says of SSH for everybody: it was asked for.

        Here and not in stacks/acknowledgments.py, so that it holds for nobody else.
        """
        reason = "The user opened SSH on purpose (cluster_allow_open_ssh = true)."
        for rule in _OPEN_RULES:
            Validations.of(self.security_group).acknowledge(Acknowledgment(id=rule, reason=reason))
