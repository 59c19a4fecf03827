"""The cluster's keys as files of this node, with the configuration that uses them."""

from __future__ import annotations

import os
from pathlib import Path

from . import json_file, paths
from .key_secret import ClusterKeys

CLIENT_CONFIG = """\
# How a node reaches another: ssh -F {folder}/config ADDRESS COMMAND
Host *
    Port {port}
    User root
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    UpdateHostKeys no
    HostKeyAlgorithms ssh-ed25519
    PreferredAuthentications publickey
    BatchMode yes
    ConnectTimeout 10
    ServerAliveInterval 10
    ServerAliveCountMax 3
    RequestTTY no
    LogLevel ERROR
"""


def contents(keys: ClusterKeys, folder: Path) -> dict[str, tuple[str, int]]:
    """Return each file's text and mode."""
    return {
        "host_key": (keys.host_private, 0o600),
        "host_key.pub": (f"{keys.host_public}\n", 0o644),
        "user_key": (keys.user_private, 0o600),
        "user_key.pub": (f"{keys.user_public}\n", 0o644),
        "authorized_keys": (f"restrict {keys.user_public}\n", 0o600),
        "known_hosts": (f"[*]:{paths.SSH_PORT} {keys.host_public}\n", 0o644),
        "config": (CLIENT_CONFIG.format(folder=folder, port=paths.SSH_PORT), 0o644),
    }


def install(keys: ClusterKeys, folder: Path) -> list[str]:
    """Write what is not there yet, and return the names of what was written.

    Raises:
        OSError: It cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    written = []
    for name, (text, mode) in contents(keys, folder).items():
        file = folder / name
        if _is(file, text, mode):
            continue
        json_file.write_text(file, text, mode=mode)
        written.append(name)
    return written


def _is(file: Path, text: str, mode: int) -> bool:
    try:
        status = os.lstat(file)
        is_owned = (status.st_mode & 0o7777, status.st_uid) == (mode, os.geteuid())
        return is_owned and file.read_text("utf-8") == text
    except (OSError, ValueError):
        return False


def are_there(folder: Path) -> bool:
    """Whether an earlier set-up has installed them."""
    names = ("host_key", "user_key", "authorized_keys", "known_hosts", "config")
    return all((folder / name).is_file() for name in names)
