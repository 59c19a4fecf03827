"""Tells a job that was asked for before from another job of the same name.

SageMaker has no token for a request that is sent again after its answer was lost, and a name is
taken for ever: a job that is there already is ours where it carries the fingerprint of the request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

VARIABLE = "MASK_RCNN_FINGERPRINT"
"""The variable of the job's containers that carries it; they have no use for it."""


def with_fingerprint(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CreateTrainingJob body that carries its own fingerprint; nothing else changes."""
    environment = {k: v for k, v in body.get("Environment", {}).items() if k != VARIABLE}
    rest = {**body, "Environment": environment}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {**body, "Environment": {**environment, VARIABLE: digest}}


def fingerprint_of(job: Mapping[str, Any]) -> str | None:
    """Return the fingerprint in a request, or in DescribeTrainingJob's answer; None without one."""
    found = job.get("Environment", {}).get(VARIABLE)
    return str(found) if found else None
