"""The command line of ssh that hands a request to the head node."""

from __future__ import annotations

from training.errors import UsageError
from training.outputs import ClusterOutputs
from training.platforms.ec2.command import PROGRAM, Action
from training.platforms.ec2.options import Ec2Options

CONNECT_TIMEOUT_S = 10


def ssh_argv(cluster: ClusterOutputs, options: Ec2Options, action: Action) -> tuple[str, ...]:
    """Return the command line; the request goes to its stdin, and never through a shell.

    The head's host key must be known to ssh already: a key that nobody has looked at is refused,
    and ssh asks nothing.

    Raises:
        UsageError: The cluster takes no SSH from outside.
    """
    key: tuple[str, ...] = ()
    if options.ssh_key is not None:
        key = ("-i", str(options.ssh_key), "-o", "IdentitiesOnly=yes")
    return (
        *("ssh", "-T"),
        *("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"),
        *("-o", f"ConnectTimeout={CONNECT_TIMEOUT_S}", "-o", "ServerAliveInterval=15"),
        *key,
        "--",
        ssh_target(cluster, options),
        # What follows, ssh joins with blanks for the shell of the other side: all of it is ours.
        *("sudo", "-n", PROGRAM, action, "-"),
    )


def ssh_target(cluster: ClusterOutputs, options: Ec2Options) -> str:
    """Return the user and the address of the head node.

    Raises:
        UsageError: The cluster takes no SSH from outside.
    """
    if cluster.head_address is None:
        raise UsageError(
            f"ec2.access: ssh: the head node of {cluster.STACK} takes no SSH: it was deployed "
            "without cluster_ssh_location. Take ssm, or deploy it again with the addresses that "
            f"may connect: cdk deploy {cluster.STACK} -c cluster_ssh_location=CIDR"
        )
    return f"{options.ssh_user}@{cluster.head_address}"
