"""The addresses at which the file systems of a VPC answer its hosts."""

from __future__ import annotations

import ipaddress
import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends

from localaws.hosts.ground import BRIDGE, Ground

NFS_PORT = 2049
LUSTRE_PORT = 988


@dataclass(frozen=True)
class MountTarget:
    """One address of a file system."""

    name: str
    """The DNS name that leads to it."""
    address: str
    port: int
    zone: str | None
    """Of EFS: only hosts of this zone find it by the name; FSx is found from all."""
    prefix: int
    """Of the VPC's CIDR block: its hosts are one link away."""


def of_vpc(ec2: Any, vpc_id: str) -> Iterator[MountTarget]:
    """Yield the mount targets of EFS and the interfaces of FSx in a VPC."""
    prefix = ipaddress.ip_network(ec2.get_vpc(vpc_id).cidr_block).prefixlen
    efs = efs_backends[ec2.account_id][ec2.region_name]
    for target in efs.mount_targets_by_id.values():
        if target.vpc_id == vpc_id:
            zone = ec2.get_subnet(target.subnet_id).availability_zone
            name = f"{target.file_system_id}.efs.{ec2.region_name}.amazonaws.com"
            yield MountTarget(name, target.ip_address, NFS_PORT, zone, prefix)
    for file_system in fsx_backends[ec2.account_id][ec2.region_name].file_systems.values():
        for interface_id in getattr(file_system, "network_interface_ids", []):
            interface = ec2.enis.get(interface_id)
            if interface is not None and interface.subnet.vpc_id == vpc_id:
                address = interface.private_ip_address
                yield MountTarget(file_system.dns_name, address, LUSTRE_PORT, None, prefix)
                break


class Servers:
    """Answers at the addresses: what waits for a server before it mounts finds one."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._selector = selectors.DefaultSelector()
        self._served: set[tuple[str, int]] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def serve(self, target: MountTarget) -> None:
        """Answer at one more address, from now on."""
        if (target.address, target.port) in self._served:
            return
        self._served.add((target.address, target.port))
        with suppress(OSError):
            # There already, where one address has two ports.
            address = f"{target.address}/{target.prefix}"
            self._ground.run("ip", "address", "add", address, "dev", BRIDGE)
        listener = self._ground.listen(None, target.address, target.port)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)

    def _accept(self) -> None:
        while True:
            for key, _ in self._selector.select(1.0):
                listener = key.fileobj
                assert isinstance(listener, socket.socket)
                with suppress(OSError):
                    listener.accept()[0].close()
