"""What the processes of a local job need of this machine: an interface, and programs."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from training.preflight.finding import Finding


def find(
    *,
    horovodrun: Path,
    controller: str,
    network_interface: str,
    host_discovery: Path | None = None,
) -> Iterator[Finding]:
    """Yield what Horovod would only say in a traceback, after the start.

    Args:
        horovodrun: The program that starts the processes.
        controller: `gloo` or `mpi`.
        network_interface: The one that the processes talk over.
        host_discovery: The program that prints the hosts of an elastic job.
    """
    interfaces = sorted(name for _, name in socket.if_nameindex())
    if network_interface not in interfaces:
        yield Finding(
            "interface-missing",
            "error",
            f"local.network_interface: {network_interface!r}: this machine has "
            f"{', '.join(interfaces)}",
            "local.network_interface",
        )
    if not os.access(horovodrun, os.X_OK):
        yield Finding(
            "horovod-missing",
            "error",
            f"{horovodrun} is not there; make setup installs Horovod",
            str(horovodrun),
        )
    if controller == "mpi" and shutil.which("mpirun") is None:
        yield Finding(
            "mpi-missing",
            "error",
            "local.controller: 'mpi': mpirun is not on PATH; install Open MPI (Debian: "
            "openmpi-bin), or choose gloo",
            "local.controller",
        )
    if host_discovery is not None and not _is_program(host_discovery):
        yield Finding(
            "host-discovery-missing",
            "error",
            f"local.elastic.host_discovery: {str(host_discovery)!r}: give a program that is there "
            "and can be executed (chmod +x)",
            "local.elastic.host_discovery",
        )


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
