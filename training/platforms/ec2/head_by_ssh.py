"""Asks the head node over SSH, with the ssh program of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Any

from training.errors import UsageError
from training.outputs import ClusterOutputs
from training.platforms.ec2.answer import HeadAway, HeadClosed, read_answer
from training.platforms.ec2.command import Action, encoded
from training.platforms.ec2.options import Ec2Options
from training.platforms.ec2.ssh import ssh_argv, ssh_target

FAILED_ITSELF = 255
"""ssh(1): the exit status of ssh where it failed itself, and not the command."""


class HeadBySsh:
    """See `training.platforms.ec2.head.Head`."""

    def __init__(self, cluster: ClusterOutputs, options: Ec2Options) -> None:
        self._cluster = cluster
        self._options = options

    def ask(
        self,
        action: Action,
        request: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = 120.0,
        about: str = "",  # noqa: ARG002  (SSH keeps no history)
    ) -> dict[str, Any]:
        """See `training.platforms.ec2.head.Head`."""
        argv = ssh_argv(self._cluster, self._options, action)
        target = ssh_target(self._cluster, self._options)
        try:
            done = subprocess.run(
                argv,
                input=encoded(request),
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise UsageError(
                "ec2.access: ssh: this machine has no program ssh; install OpenSSH's client, or "
                "take ssm"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise HeadAway(f"{target}: no answer in {timeout_s:.0f} s") from error
        if done.returncode == FAILED_ITSELF:
            raise _away(target, done.stderr)
        return read_answer(done.stdout, done.stderr)


def _away(target: str, errors: str) -> HeadAway:
    lines = errors.strip().splitlines()
    said = lines[-1] if lines else "ssh says nothing"
    host = target.partition("@")[2]
    kind = HeadAway
    if "Host key verification failed" in errors:
        kind = HeadClosed
        said += (
            f" ssh does not know the key of {host}: look at the node's console output "
            "(aws ec2 get-console-output) for its fingerprints, and accept it once by hand "
            f"(ssh {target}), or take ec2.access: ssm. After the head was replaced, its old key "
            f"goes with ssh-keygen -R {host}"
        )
    elif "Permission denied" in errors:
        kind = HeadClosed
        said += " Check ec2.ssh_user and ec2.ssh_key, and whether the agent has the key (ssh-add)"
    return kind(f"{target} cannot be reached over SSH: {said}")
