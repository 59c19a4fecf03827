"""Where things are on a node: the same on each."""

from __future__ import annotations

from pathlib import Path

ASSET = Path("/opt/mask-rcnn")
"""What the instance fetched at its first start: `node/`, `docker/`, `training/`, `toolchain/`."""

COMMAND = ASSET / "bin" / "mask-rcnn-node"
CONFIG = Path("/etc/mask-rcnn/node.json")
SSH = Path("/etc/mask-rcnn/ssh")
"""The cluster's keys and the configuration of its SSH clients; root's alone."""

RUN = Path("/run/mask-rcnn")
"""In memory, gone after a reboot."""
LEAVING = RUN / "leaving"
"""There while AWS takes this instance away: `{"reason", "time"}`."""

SSH_PORT = 2222
"""Of the cluster's own SSH server; the system's stays on 22 as the AMI has it."""


def nodes(efs_mount: str, cluster: str) -> Path:
    """Return the folder of the cluster's register: one file a node."""
    return Path(efs_mount) / "mask-rcnn" / "clusters" / cluster / "nodes"
