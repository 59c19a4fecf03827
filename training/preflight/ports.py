"""The TCP ports of the file systems, and whether security groups let them through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.aws.security_group import Peer, Ports, admits, releases

NFS: Ports = (2049, 2049)
"""https://docs.aws.amazon.com/efs/latest/ug/network-access.html"""

LUSTRE: tuple[Ports, ...] = ((988, 988), (1018, 1023))
"""https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"""


def closed_lustre_ports(
    servers_group: Mapping[str, Any], servers: Peer, clients_group: Mapping[str, Any], clients: Peer
) -> list[str]:
    """Return which of Lustre's ports are closed in which direction, in words.

    Servers call clients back, so that both ways have to be open on both sides.

    Args:
        servers_group: That of the file system, as EC2 describes it.
        servers: Its members, as rules of the other group see them.
        clients_group: That of the jobs, as EC2 describes it.
        clients: Its members.
    """
    return [
        f"{_text(ports)} {way}"
        for ports in LUSTRE
        for way, is_open in (
            ("into the file system", admits(servers_group, ports, clients)),
            ("out of the file system", releases(servers_group, ports, clients)),
            ("into jobs", admits(clients_group, ports, servers)),
            ("out of jobs", releases(clients_group, ports, servers)),
        )
        if not is_open
    ]


def _text(ports: Ports) -> str:
    first, last = ports
    return str(first) if first == last else f"{first}-{last}"
