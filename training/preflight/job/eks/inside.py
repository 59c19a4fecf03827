"""What the checks ask the cluster itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from training.kubernetes.errors import KubernetesRefused, KubernetesUnreachable
from training.outputs import KubernetesOutputs
from training.platforms.eks.connection import Connection, connected

T = TypeVar("T")

ACTIONS = ("eks:DescribeCluster",)
"""Tells where the cluster's API is; what may be asked there is the cluster's own business."""


class Inside:
    """The cluster's API. Whether it can be reached is found out once, for all checks."""

    def __init__(self, cluster: KubernetesOutputs) -> None:
        self.cluster = cluster
        self._lock = threading.Lock()
        self._asked = False
        self._error: KubernetesUnreachable | KubernetesRefused | None = None
        self._version: str | None = None

    @property
    def version(self) -> str | None:
        """The API server's version, as `1.35`; None where it cannot be asked."""
        self.why_not()
        return self._version

    def why_not(self) -> KubernetesUnreachable | KubernetesRefused | None:
        """Return why the cluster cannot be asked; None where it can.

        Raises:
            AwsError: AWS does not tell where it is.
        """
        with self._lock:
            if not self._asked:
                try:
                    with connected(self.cluster) as connection:
                        # Everybody may ask for the version; a pod is asked for by those alone
                        # whom the cluster knows.
                        self._version = connection.kubernetes.version()
                        connection.kubernetes.get("serviceaccounts", self.cluster.service_account)
                except (KubernetesUnreachable, KubernetesRefused) as error:
                    self._error = error
                self._asked = True
            return self._error

    def ask(self, question: Callable[[Connection], T]) -> T | None:
        """Return the answer; None where the cluster cannot be asked, which another check says.

        Raises:
            KubernetesError: It refused this question.
        """
        if self.why_not() is not None:
            return None
        with connected(self.cluster) as connection:
            return question(connection)
