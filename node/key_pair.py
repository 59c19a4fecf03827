"""One ed25519 key pair, made by ssh-keygen."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .errors import NodeError

_PUBLIC = re.compile(r"ssh-ed25519 [A-Za-z0-9+/]{1,200}={0,2}")
_PRIVATE = re.compile(
    r"-----BEGIN OPENSSH PRIVATE KEY-----\n[A-Za-z0-9+/=\n]{1,2000}\n"
    r"-----END OPENSSH PRIVATE KEY-----\n"
)


def make(folder: Path, name: str) -> tuple[str, str]:
    """Make a pair in a folder that is this user's alone and in memory.

    Returns:
        The private and the public half, as in OpenSSH's files.

    Raises:
        NodeError: ssh-keygen failed.
    """
    file = folder / name
    done = subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file)],  # noqa: S607
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    if done.returncode != 0:
        raise NodeError(f"ssh-keygen: {' '.join((done.stdout + done.stderr).split())}")
    return file.read_text("ascii"), file.with_name(f"{name}.pub").read_text("ascii").strip()


def is_public(text: str) -> bool:
    return _PUBLIC.fullmatch(text) is not None


def is_private(text: str) -> bool:
    return _PRIVATE.fullmatch(text) is not None
