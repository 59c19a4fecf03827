"""A worker's SSH server: one key, from one address, on a port of its own."""

import os
import pwd
import socket
import subprocess
import time
from typing import Mapping

from .errors import EntrypointError
from .launcher import find_program
from .ssh_key import make_key, public_key

_START_S = 20
_ATTEMPTS = 5


class SshServer:
    """The server that lets the head's mpirun start its daemon here.

    Args:
        folder: Of this user alone; keys and configuration go there.
        address: Where to listen: this host's address on the connection to the head.
        head_address: The only address that may log in.
        head_key: The only key that may log in.
        environment: Variables of the session: what mpirun's daemon needs to be found and to find.
    """

    def __init__(
        self,
        folder: str,
        address: str,
        head_address: str,
        head_key: str,
        environment: Mapping[str, str],
    ) -> None:
        self._folder = folder
        self._log = os.path.join(folder, "sshd.log")
        self.address = address
        self.user = _user_name()
        host_key = make_key(folder, "host_key", find_program("ssh-keygen"))
        self.host_key = public_key(host_key)
        authorized = os.path.join(folder, "authorized_keys")
        with open(authorized, "w", encoding="utf-8") as file:
            file.write(authorized_keys(head_address, head_key, environment))
        os.chmod(authorized, 0o600)
        self.process = self._start(host_key, authorized)

    def _start(self, host_key: str, authorized: str) -> "subprocess.Popen[bytes]":
        sshd = find_program("sshd")
        if os.geteuid() == 0:
            # Debian's sshd wants this folder for its unprivileged half.
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        for _ in range(_ATTEMPTS):
            self.port = _free_port(self.address)
            config = os.path.join(self._folder, "sshd_config")
            with open(config, "w", encoding="ascii") as file:
                file.write(server_config(self.address, self.port, host_key, authorized, self.user))
            process = self._try(sshd, config)
            if self._is_listening(process):
                return process
        raise EntrypointError(f"sshd: does not start: {self._said()}")

    def _try(self, sshd: str, config: str) -> "subprocess.Popen[bytes]":
        with open(self._log, "ab") as log:
            return subprocess.Popen(
                # In the foreground, so that its end is seen.
                [sshd, "-D", "-e", "-f", config],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _is_listening(self, process: "subprocess.Popen[bytes]") -> bool:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection((self.address, self.port), timeout=1).close()
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


def authorized_keys(head_address: str, head_key: str, environment: Mapping[str, str]) -> str:
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
    return f'from="{head_address}",restrict{variables} {head_key}\n'


def server_config(address: str, port: int, host_key: str, authorized: str, user: str) -> str:
    """Return the server's whole configuration; it reads no other file."""
    return (
        f"ListenAddress {_bracketed(address)}:{port}\n"
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
        "UseDNS no\n"
        "PidFile none\n"
        "PrintMotd no\n"
        "LogLevel ERROR\n"
    )


def _user_name() -> str:
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
