"""The head's SSH configuration: how mpirun reaches each worker."""

import os
from typing import List, NamedTuple


class Worker(NamedTuple):
    """A host as it introduced itself, over the connection that its address was checked on."""

    host: str
    address: str
    port: int
    user: str
    host_key: str
    """Public half of its SSH server's key."""
    head_address: str
    """The head's own address on that connection: the only one that the server lets in."""


def write_client_files(folder: str, identity: str, workers: List[Worker]) -> str:
    """Write `known_hosts` and the configuration.

    Returns:
        The path of the configuration, for `ssh -F`; no other configuration is read then.
    """
    known_hosts = os.path.join(folder, "known_hosts")
    with open(known_hosts, "w", encoding="ascii") as file:
        file.writelines(f"{worker.host} {worker.host_key}\n" for worker in workers)
    config = os.path.join(folder, "ssh_config")
    with open(config, "w", encoding="ascii") as file:
        for worker in workers:
            file.write(_host_section(worker))
        file.write(_common_section(identity, known_hosts))
    return config


def _host_section(worker: Worker) -> str:
    return (
        f"Host {worker.host}\n"
        f"  HostName {worker.address}\n"
        f"  Port {worker.port}\n"
        f"  User {worker.user}\n"
        f"  HostKeyAlias {worker.host}\n"
        f"  BindAddress {worker.head_address}\n"
    )


def _common_section(identity: str, known_hosts: str) -> str:
    return (
        "Host *\n"
        f"  IdentityFile {identity}\n"
        "  IdentitiesOnly yes\n"
        "  IdentityAgent none\n"
        f"  UserKnownHostsFile {known_hosts}\n"
        "  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n"
        "  CheckHostIP no\n"
        "  PreferredAuthentications publickey\n"
        "  BatchMode yes\n"
        "  ForwardAgent no\n"
        "  ForwardX11 no\n"
        "  ClearAllForwardings yes\n"
        "  RequestTTY no\n"
        "  ConnectTimeout 30\n"
        "  ServerAliveInterval 10\n"
        "  LogLevel ERROR\n"
    )
