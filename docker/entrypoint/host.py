"""This host, with its ranks."""

import os
from typing import Callable, Dict, List, Mapping, Optional

from .adapters import Adapter
from .errors import STOPPED_WITH_CHECKPOINT
from .job import Job
from .machine import Machine
from .network import has_efa, network_environment
from .rank_server import Order, RankServer

_CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_CONTAINER_",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)
"""Ranks need no access to AWS, so they get none."""


class Host(Machine):
    """What both the head and a worker have."""

    def __init__(self, job: Job, adapter: Adapter, environ: Mapping[str, str]) -> None:
        super().__init__(job.current_host, environ)
        self.job = job
        self.adapter = adapter
        self._ranks: Optional[RankServer] = None

    def serve_ranks(self, on_output: Callable[[int, bytes], None]) -> None:
        """Prepare this host and be ready for its ranks.

        Raises:
            EntrypointError: The adapter cannot.
        """
        self.adapter.prepare(self.job)
        path = os.path.join(self.folder, "ranks")
        self._ranks = RankServer(path, self._order(), self.tell, on_output)

    def serve_printing_ranks(self, path: str, settled: Mapping[str, str]) -> None:
        """Be ready for ranks whose launcher passes on what they print.

        Args:
            path: Of the socket.
            settled: Variables that count more than the launcher's.

        Raises:
            EntrypointError: The adapter cannot.
        """
        order = self._order()._replace(prints=True, settled=dict(settled))
        # A host that was killed may have left it.
        if os.path.exists(path):
            os.unlink(path)
        self._ranks = RankServer(path, order, self.tell, lambda _rank, _data: None)

    def _order(self) -> Order:
        return Order(
            argv=self.adapter.command(self.job),
            environment=self._rank_environment(),
            good=[0, STOPPED_WITH_CHECKPOINT],
        )

    def terminate_ranks(self) -> None:
        """Ask the ranks of this host to stop."""
        if self._ranks is not None:
            self._ranks.terminate()

    def start_launcher(
        self, name: str, argv: List[str], on_output: Callable[[int, bytes], None]
    ) -> None:
        """Start what starts the ranks, with the variables of a rank and of a session."""
        environment = {**self._rank_environment(), **self.session_environment()}
        self.launch(name, argv, on_output, environment)

    def close(self) -> None:
        super().close()
        if self._ranks is not None:
            self._ranks.close()

    def _rank_environment(self) -> Dict[str, str]:
        """Return the variables of every rank here; what the user set counts more than ours."""
        job = self.job
        inherited = {
            name: value
            for name, value in self._environ.items()
            if not name.startswith(_CREDENTIALS)
        }
        return {
            "PYTHONUNBUFFERED": "1",
            **network_environment(job.network_interface, job.instance_type, efa=has_efa()),
            **self.adapter.environment(job),
            **inherited,
        }
