"""The commands that the head node's program takes, as Systems Manager and ssh carry them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Literal

from training.errors import UsageError
from training.outputs import ClusterOutputs

PROGRAM = "/opt/mask-rcnn/bin/mask-rcnn-node"
"""On every node; ClusterStack's SSM document runs it."""

Action = Literal["submit", "status", "list", "logs", "stop", "health", "replace"]

GROUP_TAG = "tag:aws:autoscaling:groupName"
"""By which Systems Manager finds the head node, whichever instance that is by now."""

MAX_REQUEST_LENGTH = 60_000
"""Characters of the parameter Request that ClusterStack's document allows. AWS tells no limit of a
parameter's length; a whole document may have 64 KB:
https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html
"""

DELIVERY_TIMEOUT_S = 60
"""TimeoutSeconds: a node that has not begun by then does not begin."""

MAX_COMMENT_LENGTH = 100
"""https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_SendCommand.html"""


def encoded(request: Mapping[str, Any] | None) -> str:
    """Return a request as the program takes it: base64 of JSON, which no shell can misread.

    Raises:
        UsageError: It is longer than the SSM document takes.
    """
    if request is None:
        return ""
    text = json.dumps(request, separators=(",", ":"))
    found = base64.b64encode(text.encode()).decode()
    if len(found) > MAX_REQUEST_LENGTH:
        raise UsageError(
            f"the request to the cluster has {len(found):,} characters, and its SSM document takes "
            f"{MAX_REQUEST_LENGTH:,}; shorten what is long in hyperparameters, environment or tags"
        )
    return found


def send_command(
    cluster: ClusterOutputs, action: Action, request: Mapping[str, Any] | None, *, about: str = ""
) -> dict[str, Any]:
    """Return the body of SendCommand that hands a request to the head node.

    Args:
        about: What the command's history says of it, besides the action.

    Raises:
        UsageError: The request is too long.
    """
    return {
        "DocumentName": cluster.document_name,
        "Targets": [{"Key": GROUP_TAG, "Values": [cluster.head_group_name]}],
        "Parameters": {"Action": [action], "Request": [encoded(request)]},
        "TimeoutSeconds": DELIVERY_TIMEOUT_S,
        "Comment": f"mask-rcnn {action} {about}".rstrip()[:MAX_COMMENT_LENGTH],
    }
