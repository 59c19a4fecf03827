"""What every FSx for Lustre file system has, new or existing, and the ports that it wants open."""

from __future__ import annotations

from typing import Protocol

from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IDependable

PORTS = (
    (ec2.Port.tcp(988), "LNET"),
    (ec2.Port.tcp_range(1018, 1023), "LNET from privileged ports"),
)
"""Between clients and servers, and among servers, both ways.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""


class Lustre(Protocol):
    """A file system as jobs see it."""

    file_system_id: str
    mount_name: str
    """The first part of every path that a job mounts."""
    dns_name: str
    subnet: ec2.ISubnet
    """It is in one zone, that of this subnet; clients had better be there too."""
    security_group: ec2.ISecurityGroup
    data_path: str
    """The folder that mirrors the bucket."""


def open_ports_to_clients(servers: ec2.ISecurityGroup, clients: ec2.ISecurityGroup) -> None:
    """Let clients and servers reach each other; both sides open connections."""
    for port, what in PORTS:
        servers.connections.allow_from(clients, port, f"Lustre clients to servers: {what}")
        servers.connections.allow_to(clients, port, f"Lustre servers to clients: {what}")


def open_ports_among_servers(servers: ec2.ISecurityGroup) -> None:
    for port, what in PORTS:
        servers.connections.allow_internally(port, f"Lustre servers to each other: {what}")


def open_efa(
    scope: Construct, *, servers: ec2.ISecurityGroup, clients: ec2.ISecurityGroup
) -> list[IDependable]:
    """Let all traffic pass, which EFA asks for: its protocol has no ports. Return the rules.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
    L1, so that each rule has an id of its own, whatever group the clients are in:
    stacks/acknowledgments.py names them.
    """
    rules: list[IDependable] = []
    for name, sender, receiver, path in (
        ("AmongServers", servers, servers, "servers to each other"),
        ("FromClients", clients, servers, "clients to servers"),
        ("ToClients", servers, clients, "servers to clients"),
    ):
        why = f"Lustre over EFA, {path}: EFA passes only where all traffic may"
        rules += [
            ec2.CfnSecurityGroupIngress(
                scope,
                f"Efa{name}Ingress",
                group_id=receiver.security_group_id,
                source_security_group_id=sender.security_group_id,
                ip_protocol="-1",
                description=why,
            ),
            ec2.CfnSecurityGroupEgress(
                scope,
                f"Efa{name}Egress",
                group_id=sender.security_group_id,
                destination_security_group_id=receiver.security_group_id,
                ip_protocol="-1",
                description=why,
            ),
        ]
    return rules
