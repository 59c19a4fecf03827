"""The network interface that has an address: what the other nodes know this one by.

Left to themselves MPI, gloo and NCCL may pick docker0, which reaches nobody
(https://github.com/horovod/horovod/issues/310).
"""

from __future__ import annotations

import fcntl
import socket
import struct

from node.errors import NodeError

_SIOCGIFADDR = 0x8915


def interface_of(address: str) -> str:
    """Return the interface's name.

    Raises:
        NodeError: No interface here has the address.
    """
    known = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode("ascii", "ignore")[:15])
            try:
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)
            except OSError:
                # It has no IPv4 address.
                continue
            known[name] = socket.inet_ntoa(answer[20:24])
    for name, own in known.items():
        if own == socket.inet_ntoa(socket.inet_aton(address)):
            return name
    shown = ", ".join(f"{name} {own}" for name, own in known.items())
    raise NodeError(f"no network interface here has the address {address}; there are {shown}")
