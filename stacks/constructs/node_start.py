"""The user data of a node: what it is told, and the script that begins its set-up."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

from stacks.constructs.source_archive import SourceArchive

SCRIPT = Path(__file__).resolve().parents[1] / "boot" / "node.sh"

VALUES = "# VALUES\n"
"""The line of the script that the values replace."""

LONGEST_USER_DATA = 16_384
"""Bytes that EC2 takes, before they are encoded in base64.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html
"""

DOWNLOAD_TIMEOUT_S = 120
"""For a file of some megabytes, at most."""

EFS_MOUNT, FSX_MOUNT = "/efs", "/fsx"
"""Where nodes mount the file systems."""


@dataclass(frozen=True, kw_only=True)
class SharedMount:
    """EFS, as a node mounts it."""

    id: str
    dns: str
    iam: bool
    """Whether it is mounted with the node's role, without which nobody is root on it."""
    mount: str = EFS_MOUNT


@dataclass(frozen=True, kw_only=True)
class LustreMount:
    """FSx for Lustre, as a node mounts it."""

    id: str
    dns: str
    mount_name: str
    mount: str = FSX_MOUNT


@dataclass(frozen=True, kw_only=True)
class EventNames:
    """What the head calls the events by which it tells how jobs do."""

    source: str
    detail_type: str


@dataclass(frozen=True, kw_only=True)
class NodeValues:
    """What a node is told, in /etc/mask-rcnn/node.json. Strings may be tokens."""

    cluster: str
    role: str
    """`head` or `worker`."""
    region: str
    stack: str
    resource: str
    """The logical id of the group, for which the node tells CloudFormation how its set-up went."""
    head_group: str
    worker_group: str
    efs: SharedMount
    fsx: LustreMount | None
    key_secret_arn: str
    log_group: str
    runs_in: str
    environment: str | None
    """The Python environment that the AMI has already; None: the node makes it."""
    elastic_ip_allocation: str | None
    setup_minutes: int
    events: EventNames | None
    """None: nobody is to be told how jobs do, or this is no head."""


def render(values: NodeValues, programs: SourceArchive) -> str:
    """Return the script with its values as quoted assignments: nothing in them is ever run."""
    script = SCRIPT.read_text(encoding="utf-8")
    before, line, after = script.partition(VALUES)
    if not line:
        raise ValueError(f"{SCRIPT.name} has no line {VALUES.strip()!r}")
    assignments = {
        "REGION": values.region,
        "STACK": values.stack,
        "RESOURCE": values.resource,
        "SOURCE_BUCKET": programs.bucket_name,
        "SOURCE_KEY": programs.object_key,
        "SOURCE_SHA256": programs.sha256,
        "DOWNLOAD_TIMEOUT_S": str(DOWNLOAD_TIMEOUT_S),
        "NODE_JSON": json.dumps(asdict(values), indent=1),
    }
    return before + "".join(map(_assignment, assignments.items())) + after


def _assignment(item: tuple[str, str]) -> str:
    name, value = item
    return f"readonly {name}={shlex.quote(value)}\n"
