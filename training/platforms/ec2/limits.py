"""What the nodes take of a request; node/conductor/request.py refuses the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from training.errors import UsageError

MAX_RUN_S = 366 * 24 * 3600
MAX_PATH_LENGTH = 512
MAX_VARIABLE_NAME_LENGTH = 128

_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]{1,511}")


def check_limits(document: Mapping[str, Any]) -> None:
    """Refuse what the nodes would refuse, where the job spec itself allows it.

    Raises:
        UsageError: The message names the spec's key, the value and what is allowed.
    """
    if document["max_run_s"] > MAX_RUN_S:
        raise UsageError(
            f"limits.max_run_s: {document['max_run_s']}: platform ec2 runs a job for at most "
            f"{MAX_RUN_S} seconds (a year)"
        )
    image = document["image"]
    if image is not None and not _IMAGE.fullmatch(image):
        raise UsageError(
            f"image: {image!r}: expected registry/repository:tag or @sha256:..., of letters of "
            "English, digits and . _ / : @ -"
        )
    paths = {"channels.train": document["data"]["path"], "channels.log": document["log"]}
    for key, path in paths.items():
        if len(path) > MAX_PATH_LENGTH:
            raise UsageError(
                f"{key}: on the nodes it is {path[:40]}…, {len(path)} characters; they take "
                f"{MAX_PATH_LENGTH}"
            )
    for name in document["environment"]:
        if len(name) > MAX_VARIABLE_NAME_LENGTH:
            raise UsageError(
                f"environment: {name[:40]}…: a name of {len(name)} characters; the nodes take "
                f"{MAX_VARIABLE_NAME_LENGTH}"
            )
