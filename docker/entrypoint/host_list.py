"""Which hosts an elastic job may use, whoever knows it."""

import os
from typing import Any, Optional

from .elastic_settings import Listed, read_listed
from .errors import EntrypointError
from .say import say
from .wire import Message


class HostList:
    """Changes while the job runs."""

    def newest(self) -> Optional[Listed]:
        """Return the hosts; None: they are the same as before."""
        raise NotImplementedError

    def take(self, event: Message) -> None:
        """Take what happened on this host or on a connection."""

    def stop(self) -> None:
        """Ask the ranks of the other hosts to save and stop, where nobody else does."""


class FileOfHosts(HostList):
    """A list that is replaced whenever a host comes or goes (node/conductor/elastic_hosts.py).

    Args:
        path: The file.
        address: Of this host, which is reached without SSH.
    """

    def __init__(self, path: str, address: str) -> None:
        self._path = path
        self._address = address
        self._state: Optional[Any] = None

    def newest(self) -> Optional[Listed]:
        """Return the hosts; what is no list changes nothing."""
        try:
            status = os.stat(self._path)
            state = (status.st_mtime_ns, status.st_ino, status.st_size)
            if state == self._state:
                return None
            self._state = state
            return read_listed(self._path, self._address)
        except (OSError, EntrypointError) as error:
            say(f"the list of hosts stays as it is: {error}")
            return None
