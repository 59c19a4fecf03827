"""A worker's SSH server, which lets in one key."""

import os
import pwd
import socket
import subprocess
import sys
import time
from typing import Mapping, NamedTuple, Optional

from .errors import EntrypointError
from .launcher import find_program
from .ssh_key import make_key, public_key

_START_S = 20
_ATTEMPTS = 5
_WITH_PARENT = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9, 0, 0, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Has the kernel kill it when this process ends, however that ends (PR_SET_PDEATHSIG, prctl(2)):
it writes its title over its environment, by which all else that a job leaves is found. Not between
fork and exec of this process, which has threads."""


class Entrance(NamedTuple):
    """Where a server listens, and whom it lets in."""

    key: str
    """The only key that may log in."""
    source: Optional[str]
    """The only address that may; None: any."""
    address: Optional[str]
    """Where it listens; None: on all of this host's addresses."""
    port: Optional[int] = None
    """None: one that is free."""
    host_key: Optional[str] = None
    """File of the server's own private key, its public half beside it; None: it makes one."""


class SshServer:
    """The server that lets the head start what it needs here.

    Args:
        folder: Of this user alone; keys and configuration go there.
        entrance: Where it listens, and whom it lets in.
        environment: Variables of the session: what mpirun's daemon needs to be found and to find.
    """

    def __init__(self, folder: str, entrance: Entrance, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._entrance = entrance
        self._log = os.path.join(folder, "sshd.log")
        self.user = user_name()
        host_key = entrance.host_key or make_key(folder, "host_key", find_program("ssh-keygen"))
        self.host_key = public_key(host_key)
        authorized = os.path.join(folder, "authorized_keys")
        with open(authorized, "w", encoding="utf-8") as file:
            file.write(authorized_keys(entrance.source, entrance.key, environment))
        os.chmod(authorized, 0o600)
        self.process = self._start(host_key, authorized)

    def _start(self, host_key: str, authorized: str) -> "subprocess.Popen[bytes]":
        sshd = find_program("sshd")
        if os.geteuid() == 0:
            # Debian's sshd wants this folder for its unprivileged half.
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        for _ in range(_ATTEMPTS):
            address = self._entrance.address
            self.port = self._entrance.port or _free_port(address or "127.0.0.1")
            config = os.path.join(self._folder, "sshd_config")
            with open(config, "w", encoding="ascii") as file:
                file.write(server_config(address, self.port, host_key, authorized, self.user))
            process = self._try(sshd, config)
            if self._is_listening(process):
                return process
        raise EntrypointError(f"sshd: does not start: {self._said()}")

    def _try(self, sshd: str, config: str) -> "subprocess.Popen[bytes]":
        with open(self._log, "ab") as log:
            return subprocess.Popen(
                # In the foreground, so that its end is seen.
                [sys.executable, "-c", _WITH_PARENT, sshd, "-D", "-e", "-f", config],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _is_listening(self, process: "subprocess.Popen[bytes]") -> bool:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and process.poll() is None:
            try:
                address = self._entrance.address or "127.0.0.1"
                socket.create_connection((address, self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
                continue
            return process.poll() is None
        process.kill()
        process.wait()
        return False

    def _said(self) -> str:
        with open(self._log, "rb") as file:
            return file.read().decode("utf-8", "replace").strip() or "it says nothing"


def authorized_keys(source: Optional[str], key: str, environment: Mapping[str, str]) -> str:
    """Return the one line of authorized_keys.

    `restrict` takes away forwarding, terminals and start-up files. The variables are this image's
    own: an SSH session would begin without them, and older servers have no SetEnv.
    """
    variables = "".join(
        f',environment="{name}={value}"'
        for name, value in sorted(environment.items())
        # The file has no way to write these.
        if not any(character in value for character in '"\\\n')
    )
    origin = f'from="{source}",' if source else ""
    return f"{origin}restrict{variables} {key}\n"


def server_config(
    address: Optional[str], port: int, host_key: str, authorized: str, user: str
) -> str:
    """Return the server's whole configuration; it reads no other file."""
    where = f"ListenAddress {_bracketed(address)}:{port}" if address else f"Port {port}"
    return (
        f"{where}\n"
        f"HostKey {host_key}\n"
        f"AuthorizedKeysFile {authorized}\n"
        f"AllowUsers {user}\n"
        "PermitRootLogin prohibit-password\n"
        "PubkeyAuthentication yes\n"
        "AuthenticationMethods publickey\n"
        "PasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\n"
        "UsePAM no\n"
        # The folder is this user's alone, but for a plain user it lies in /tmp, everybody's.
        "StrictModes no\n"
        # For the variables in authorized_keys, which this host itself wrote.
        "PermitUserEnvironment yes\n"
        "PermitTTY no\n"
        "PermitUserRC no\n"
        "DisableForwarding yes\n"
        "MaxAuthTries 2\n"
        "LoginGraceTime 30\n"
        # horovodrun logs in for all ranks of a host at once; of more than 10 some would be refused.
        "MaxStartups 128\n"
        # A head that is gone without a word is given up after 15 s.
        "ClientAliveInterval 5\n"
        "ClientAliveCountMax 3\n"
        "UseDNS no\n"
        "PidFile none\n"
        "PrintMotd no\n"
        "LogLevel ERROR\n"
    )


def user_name() -> str:
    """Return this user's name. Raises: EntrypointError: It has none."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise EntrypointError(
            f"user id {os.geteuid()} has no name in this image (/etc/passwd), which SSH needs: "
            "run the container as root or as a user of the image"
        )


def _free_port(address: str) -> int:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
