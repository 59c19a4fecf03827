"""The command line of Horovod 0.28.1's horovodrun, for hosts that come and go, and its files."""

import os
import sys
from typing import Dict, List, Mapping

from .elastic_settings import ElasticHead, Listed
from .json_file import write_text
from .rank import SOCKETS_VARIABLE
from .ssh_client import write_client_files

COOLDOWN_S = ("5", "60")
"""Shortest and longest time until the host of a lost process may take part again. Without it
Horovod never takes it back."""

_PASSED = ("PATH", "LD_LIBRARY_PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
"""What horovodrun needs itself. It puts all that it gets into the command lines of ranks, which a
shell reads; a rank's own variables come from its host."""

_SSH = """#!/bin/sh
# Horovod calls `ssh -o PasswordAuthentication=no -o StrictHostKeyChecking=no HOST ...`
# (horovod/runner/util/remote.py). The configuration knows every host's key, and is to be obeyed.
if [ "$1 $2 $3 $4" != "-o PasswordAuthentication=no -o StrictHostKeyChecking=no" ]; then
  echo "ssh: horovodrun calls it as nobody knows: $1 $2 $3 $4" >&2
  exit 255
fi
shift 4
exec {ssh} -F {config} "$@"
"""


class HorovodrunFiles:
    """What horovodrun reads while it runs: which hosts there are, and how they are reached.

    Args:
        folder: Of this user alone; its path has no blank.
        identity: The private key's file.
        ssh: Path of the real program.
    """

    def __init__(self, folder: str, identity: str, ssh: str) -> None:
        self._folder = folder
        self._identity = identity
        self._hosts = os.path.join(folder, "hosts")
        self.programs = os.path.join(folder, "bin")
        self.discovery = os.path.join(self.programs, "hosts")
        os.makedirs(self.programs, exist_ok=True)
        config = os.path.join(folder, "ssh_config")
        _write_program(os.path.join(self.programs, "ssh"), _SSH.format(ssh=ssh, config=config))
        _write_program(self.discovery, f"#!/bin/sh\nexec cat {self._hosts}\n")
        self.update(Listed([], []))

    def update(self, listed: Listed) -> None:
        """Let horovodrun know which hosts there are; it looks every second."""
        # First how to reach them.
        write_client_files(self._folder, self._identity, listed.workers)
        write_text(self._hosts, "".join(f"{line}\n" for line in listed.lines))


def horovodrun_command(
    head: ElasticHead, horovodrun: str, discovery: str, interface: str, starter: List[str]
) -> List[str]:
    """Return the arguments that start the ranks, and again those of hosts that come.

    Args:
        head: The job's limits.
        horovodrun: Its path; it is a program of the Python that runs this.
        discovery: Path of the program that prints the hosts.
        interface: This host's network interface. Horovod gives its name to all ranks; each host
            puts its own in its place.
        starter: What starts a rank.
    """
    return [
        *(sys.executable, horovodrun),
        *("-np", str(head.least_processes)),
        *("--min-np", str(head.least_processes), "--max-np", str(head.most_processes)),
        *("--elastic-timeout", str(head.wait_s), "--blacklist-cooldown-range", *COOLDOWN_S),
        *("--host-discovery-script", discovery),
        *("--gloo", "--network-interfaces", interface),
        *starter,
    ]


def horovodrun_environment(
    environ: Mapping[str, str], head: ElasticHead, programs: str
) -> Dict[str, str]:
    """Return horovodrun's own variables."""
    passed = {name: environ[name] for name in _PASSED if name in environ}
    path = os.pathsep.join([programs, passed.get("PATH", os.defpath)])
    return {**passed, "PATH": path, "PYTHONUNBUFFERED": "1", SOCKETS_VARIABLE: head.sockets}


def settled_variables(interface: str) -> Dict[str, str]:
    """Return the variables of a rank in which this host knows better than horovodrun."""
    return {"HOROVOD_GLOO_IFACE": interface, "NCCL_SOCKET_IFNAME": interface}


def _write_program(path: str, text: str) -> None:
    write_text(path, text)
    os.chmod(path, 0o700)
