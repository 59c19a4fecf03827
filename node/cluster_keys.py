"""Gets the cluster's SSH keys onto this node: python3 -m node.cluster_keys SECONDS.

The first head makes them; a worker waits for as many seconds until it has.
"""

from __future__ import annotations

import sys
import time

from . import key_files, key_secret, paths
from .aws_cli import AwsError
from .config import NodeConfig, load
from .errors import NodeError
from .key_secret import ClusterKeys

_PAUSE_S = 3.0
_REFUSED_S = 60.0
"""A role's permissions may take some seconds to be known everywhere; later they are missing."""


def main(arguments: list[str]) -> int:
    try:
        config = load()
        keys = fetch(config, timeout_s=float(arguments[0]))
        if keys is None:
            return 0
        written = key_files.install(keys, paths.SSH)
        sys.stdout.write(f"keys: {' '.join(written) or 'as they were'}\n")
    except NodeError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    return 0


def fetch(config: NodeConfig, *, timeout_s: float, pause_s: float = _PAUSE_S) -> ClusterKeys | None:
    """Return the cluster's keys; None where AWS does not answer and an earlier start left them.

    Raises:
        NodeError: They cannot be had within so many seconds; the message says why.
    """
    began = time.monotonic()
    while True:
        waited = time.monotonic() - began
        try:
            keys = _get_or_make(config)
            if keys is not None:
                return keys
            problem = (
                "the head has not put the cluster's SSH keys there. The log of its set-up says why"
            )
        except AwsError as error:
            problem = f"the secret is not readable: {error}"
            if key_files.are_there(paths.SSH):
                sys.stderr.write(f"{problem}; the keys of an earlier start are used\n")
                return None
            if error.code == "AccessDeniedException" and waited > min(_REFUSED_S, timeout_s / 2):
                raise NodeError(f"secret {config.key_secret_arn}: {problem}") from error
        if waited + pause_s > timeout_s:
            raise NodeError(
                f"secret {config.key_secret_arn}: {problem} (tried for {timeout_s:g} s)"
            )
        time.sleep(pause_s)


def _get_or_make(config: NodeConfig) -> ClusterKeys | None:
    keys = key_secret.read(config.key_secret_arn, config.region)
    if keys is None and config.role == "head":
        key_secret.make(config.key_secret_arn, config.region)
        # Not what was made here: another head may have been first.
        keys = key_secret.read(config.key_secret_arn, config.region)
    return keys


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
