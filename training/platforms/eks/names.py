"""What a job may be called on Kubernetes, where its release and its MPIJob have its name."""

from __future__ import annotations

import re

from training.errors import UsageError

MAX_LENGTH = 50
"""Helm takes 53 characters. The MPI Operator calls pods `<name>-worker-<number>`, and refuses a job
with such a name of over 63: https://github.com/kubeflow/mpi-operator, pkg/apis/kubeflow/validation
"""

_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
"""Each host name is also the name of a service: https://www.rfc-editor.org/rfc/rfc1035"""


def check_name(name: str) -> None:
    """Refuse a job's name that Kubernetes does not take.

    Raises:
        UsageError: With what it takes.
    """
    if len(name) > MAX_LENGTH or not _NAME.fullmatch(name):
        raise UsageError(
            f"name: {name!r}: on platform eks a job's name has at most {MAX_LENGTH} small letters "
            "of English, digits and hyphens, begins with a letter and ends with no hyphen"
        )
