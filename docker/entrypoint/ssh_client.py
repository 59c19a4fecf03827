"""The head's SSH configuration: how mpirun or horovodrun reaches each worker."""

import os
from typing import List, NamedTuple, Optional

from .json_file import write_text


class Worker(NamedTuple):
    """A host as it introduced itself, over the connection that its address was checked on."""

    host: str
    address: str
    port: int
    user: str
    host_key: str
    """Public half of its SSH server's key."""
    head_address: Optional[str]
    """The head's own address on that connection, where the server lets in no other."""


def write_client_files(folder: str, identity: str, workers: List[Worker]) -> str:
    """Write `known_hosts` and the configuration.

    Returns:
        The path of the configuration, for `ssh -F`; no other configuration is read then.
    """
    known_hosts = os.path.join(folder, "known_hosts")
    keys = [f"{worker.host} {worker.host_key}\n" for worker in workers]
    write_text(known_hosts, "".join(keys))
    config = os.path.join(folder, "ssh_config")
    sections = [*map(_host_section, workers), _common_section(identity, known_hosts)]
    write_text(config, "".join(sections))
    return config


def _host_section(worker: Worker) -> str:
    bind = f"  BindAddress {worker.head_address}\n" if worker.head_address else ""
    return (
        f"Host {worker.host}\n"
        f"  HostName {worker.address}\n"
        f"  Port {worker.port}\n"
        f"  User {worker.user}\n"
        f"  HostKeyAlias {worker.host}\n{bind}"
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
        # A host that is gone without a word is given up after 15 s.
        "  ServerAliveInterval 5\n"
        "  ServerAliveCountMax 3\n"
        "  LogLevel ERROR\n"
    )
