"""Keys of one job, made when it starts. A private key never leaves the host that made it."""

import os
import re
import subprocess

from .errors import EntrypointError

_KEY = re.compile(r"(ssh-ed25519|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/]{1,400}={0,2}")
"""Ours are ed25519, those of MPI Operator ECDSA on P-521."""


def make_key(folder: str, name: str, ssh_keygen: str) -> str:
    """Make an ed25519 key pair in a folder of this user alone.

    Returns:
        The path of the private key.
    """
    path = os.path.join(folder, name)
    made = subprocess.Popen(
        [ssh_keygen, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said, _ = made.communicate()
    if made.returncode != 0:
        raise EntrypointError(f"ssh-keygen: {said.decode('utf-8', 'replace').strip()}")
    return path


def public_key(path: str) -> str:
    """Return the public half, `ssh-ed25519 AAAA…`."""
    return read_public_key(f"{path}.pub")


def read_public_key(path: str) -> str:
    """Raises: EntrypointError: The file cannot be read, or holds something else."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return checked_public_key(file.read().strip())
    except OSError as error:
        raise EntrypointError(f"{path}: cannot be read ({error.strerror})")


def checked_public_key(text: str) -> str:
    """Return the key without its comment.

    Raises:
        EntrypointError: It is no such key of one line, as goes into OpenSSH's files.
    """
    words = " ".join(text.split(" ")[:2])
    if not _KEY.fullmatch(words):
        raise EntrypointError(f"another host handed over what is no SSH key: {text[:80]!r}")
    return words
