"""The cluster's nodes, asked for again and again in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable

from node.config import NodeConfig
from node.discovery.find import Discovery, discover
from node.registrations import Registration

EVERY_S = 5


class Nodes:
    """Knows the hosts of a moment ago.

    Args:
        config: The cluster.
        say: Told when they cannot be asked for.
        every_s: Between questions.
    """

    def __init__(
        self, config: NodeConfig, say: Callable[[str], None], every_s: float = EVERY_S
    ) -> None:
        self._config = config
        self._say = say
        self._every_s = every_s
        self._latest: Discovery | None = None
        self._ended = threading.Event()
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def latest(self) -> Discovery | None:
        """Return what is known; None before the first answer."""
        return self._latest

    def hosts(self) -> list[Registration]:
        latest = self._latest
        return list(latest.hosts) if latest else []

    def refresh(self, timeout_s: float = 60) -> Discovery | None:
        """Wait for the next answer: what was known may be of before something happened."""
        self._changed.clear()
        self._changed.wait(timeout_s)
        return self._latest

    def close(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._latest = discover(self._config)
                self._changed.set()
            except Exception as error:
                # Whatever it is: without this thread no host would ever be taken in again.
                self._say(f"the nodes cannot be asked for: {error}")
            self._ended.wait(self._every_s)
