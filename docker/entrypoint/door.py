"""Where the head lets workers in: they come to it (`Gathering`), or it calls them (`Calls`)."""

import re
from typing import NamedTuple, Optional

from .errors import Ending, EntrypointError
from .job import Job
from .ssh_client import Worker
from .ssh_key import checked_public_key
from .wire import Link, Message

_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")


class Arrival(NamedTuple):
    """A worker that was let in."""

    host: str
    link: Link
    address: str
    head_address: Optional[str]
    worker: Optional[Worker] = None
    """How its SSH server is reached, where that is known already."""
    pod: str = ""
    """Which pod it is, where it is one: a new pod has the name of the one before."""


class Door:
    """Stays open until it is closed."""

    def end(self, ending: Ending) -> None:
        """From now on tell every worker that comes that the job has ended, and how."""
        raise NotImplementedError

    def close(self) -> None:
        """Let nobody in any more; those who are in stay."""
        raise NotImplementedError

    def why(self, _host: str) -> str:
        """Return why a worker is not in, in brackets after a blank, as far as is known."""
        return ""


def welcome(arrival: Arrival, job: Job) -> Message:
    """Return what a worker that was let in is told of the job."""
    return {
        "kind": "welcome",
        "head": job.head,
        "hosts": job.hosts,
        # As the head reaches it.
        "address": arrival.address,
        "records": arrival.host == job.hosts[0],
    }


def read_ready(arrival: Arrival, message: Message) -> Optional[Worker]:
    """Return how to reach a worker's SSH server; None where the job needs none.

    Raises:
        EntrypointError: What it handed over cannot go into SSH's files.
    """
    ssh = message.get("ssh")
    if ssh is None:
        return None
    port, user = ssh.get("port"), ssh.get("user")
    if not isinstance(port, int) or not 0 < port < 65536 or not _USER.fullmatch(str(user)):
        raise EntrypointError(f"{arrival.host} handed over no SSH port and user: {ssh!r}")
    return Worker(
        host=arrival.host,
        address=arrival.address,
        port=port,
        user=str(user),
        host_key=checked_public_key(str(ssh.get("host_key"))),
        head_address=arrival.head_address,
    )
