"""horovodrun's options for a number of processes that changes (Horovod elastic)."""

from __future__ import annotations

import shlex

from training.errors import UsageError
from training.platforms.local_options import ElasticOptions

COOLDOWN_S = ("5", "60")
"""Shortest and longest time until the host of a lost process may take part again. Without it
Horovod never takes it back."""


def options(elastic: ElasticOptions, *, processes: int, gpus: int) -> tuple[str, ...]:
    """Return the options that stand in place of `-H`.

    Args:
        processes: Those that the job starts with.
        gpus: Of this machine.

    Raises:
        UsageError: The numbers do not fit together, or the hosts must be named.
    """
    most = most_processes(elastic, processes)
    if not elastic.min_processes <= processes <= most:
        raise UsageError(
            f"local.elastic: from min_processes {elastic.min_processes} to max_processes {most} "
            f"is not possible for a job that starts with {processes} processes "
            "(instances.processes_per_instance)"
        )
    limits = ("--min-np", str(elastic.min_processes), "--max-np", str(most))
    cooldown = ("--blacklist-cooldown-range", *COOLDOWN_S)
    if elastic.host_discovery is not None:
        # Horovod hands it to a shell.
        program = shlex.quote(str(elastic.host_discovery))
        return (*limits, *cooldown, "--host-discovery-script", program)
    if gpus:
        # Each process would be the first of its host, and all of them take the first GPU.
        raise UsageError(
            "local.elastic.host_discovery: None: on a machine with GPUs name a program that "
            "prints the hosts"
        )
    hosts = ",".join(f"{name}:1" for name in host_names(most))
    return (*limits, *cooldown, "-H", hosts)


def most_processes(elastic: ElasticOptions, processes: int) -> int:
    """Return how many processes there may be at a time."""
    return elastic.max_processes or processes


def host_names(count: int) -> list[str]:
    """Return different names of this machine.

    Horovod gives up the whole host of a lost process, and takes 127.0.0.2 for another machine. All
    of these are 127.0.0.1: `inet_aton` reads a number with leading zeros as octal.
    """
    return ["localhost", *(f"127.0.0.{'0' * zeros}1" for zeros in range(count - 1))]
