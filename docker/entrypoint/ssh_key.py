"""Keys of one job, made when it starts. A private key never leaves the host that made it."""

import os
import re
import subprocess

from .errors import EntrypointError

_KEY = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]{1,200}={0,2}")


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
    with open(f"{path}.pub", encoding="ascii") as file:
        return checked_public_key(file.read().strip())


def checked_public_key(text: str) -> str:
    """Return the key without its comment.

    Raises:
        EntrypointError: It is no ed25519 key of one line, as goes into OpenSSH's files.
    """
    words = " ".join(text.split(" ")[:2])
    if not _KEY.fullmatch(words):
        raise EntrypointError(f"another host handed over what is no SSH key: {text[:80]!r}")
    return words
