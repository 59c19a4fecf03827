"""What user data says about this node: /etc/mask-rcnn/node.json.

`python3 -m node.config` prints it for the set-up's shell scripts: NAME=VALUE, each ended by a zero
byte, so that no value is ever read as a command.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import paths
from .errors import NodeError

PATH_VARIABLE = "MASK_RCNN_NODE_CONFIG"
"""Names another file, for tests."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True)
class Efs:
    id: str
    mount: str
    dns: str
    iam: bool = False
    """Mounted with the node's role, since the file system lets no other root be root."""


@dataclass(frozen=True)
class Fsx:
    id: str
    dns: str
    mount_name: str
    mount: str


@dataclass(frozen=True)
class Events:
    """What the events are called that tell how jobs do: the node may put no others."""

    source: str
    detail_type: str


@dataclass(frozen=True)
class NodeConfig:
    """This node's part of the cluster."""

    cluster: str
    role: str
    """head or worker"""
    region: str
    stack: str
    resource: str
    """Logical id of the group that is told how the set-up ended; empty: nobody is."""
    head_group: str
    worker_group: str
    efs: Efs
    fsx: Fsx | None
    key_secret_arn: str
    log_group: str
    runs_in: str
    """image or environment"""
    elastic_ip_allocation: str
    """Empty: the head has no Elastic IP."""
    setup_minutes: float
    """The set-up's time limit."""
    environment: str = ""
    """A virtual environment that is there already, for tests; empty: the set-up makes one."""
    events: Events | None = None
    """None: nobody is to be told."""

    @property
    def nodes(self) -> Path:
        """The folder of the cluster's register."""
        return paths.nodes(self.efs.mount, self.cluster)


def load(path: Path | None = None) -> NodeConfig:
    """Read the file.

    Raises:
        NodeError: It is not there or not as it must be; the message names the key.
    """
    path = path or Path(os.environ.get(PATH_VARIABLE) or paths.CONFIG)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NodeError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise NodeError(f"{path}: is no JSON ({error})") from error
    if not isinstance(value, dict):
        raise NodeError(f"{path}: is {type(value).__name__}, wanted an object")
    return _Reader(path, value).config()


class _Reader:
    """Takes the values out of one object, each with its key in the message."""

    def __init__(self, path: Path, value: Mapping[str, Any], prefix: str = "") -> None:
        self._path = path
        self._value = value
        self._prefix = prefix

    def config(self) -> NodeConfig:
        return NodeConfig(
            cluster=self._name("cluster"),
            role=self._one_of("role", "head", "worker"),
            region=self._text("region"),
            stack=self._text("stack"),
            resource=self._text("resource", optional=True),
            head_group=self._text("head_group"),
            worker_group=self._text("worker_group"),
            efs=self._part("efs").efs(),
            fsx=self._part("fsx").fsx() if self._value.get("fsx") is not None else None,
            key_secret_arn=self._text("key_secret_arn"),
            log_group=self._text("log_group"),
            runs_in=self._one_of("runs_in", "image", "environment"),
            elastic_ip_allocation=self._text("elastic_ip_allocation", optional=True),
            setup_minutes=self._minutes("setup_minutes"),
            environment=self._text("environment", optional=True),
            events=self._part("events").events() if self._value.get("events") is not None else None,
        )

    def efs(self) -> Efs:
        return Efs(
            id=self._text("id"),
            mount=self._mount("mount"),
            dns=self._text("dns"),
            iam=self._value.get("iam") is True,
        )

    def fsx(self) -> Fsx:
        return Fsx(
            id=self._text("id"),
            dns=self._text("dns"),
            mount_name=self._text("mount_name"),
            mount=self._mount("mount"),
        )

    def events(self) -> Events:
        return Events(source=self._text("source"), detail_type=self._text("detail_type"))

    def _part(self, key: str) -> _Reader:
        value = self._value.get(key)
        if not isinstance(value, dict):
            raise self._wrong(key, "an object")
        return _Reader(self._path, value, f"{key}.")

    def _text(self, key: str, *, optional: bool = False) -> str:
        value = self._value.get(key)
        if optional and value is None:
            return ""
        if not isinstance(value, str) or not (value or optional) or "\0" in value:
            raise self._wrong(key, "a text")
        return value

    def _name(self, key: str) -> str:
        """A part of a path on EFS."""
        value = self._text(key)
        if not _NAME.fullmatch(value):
            raise self._wrong(key, "letters, digits, '.', '_' and '-', at most 128")
        return value

    def _mount(self, key: str) -> str:
        value = self._text(key)
        if not value.startswith("/") or len(value) < 2:
            raise self._wrong(key, "a path such as /efs")
        return value

    def _one_of(self, key: str, *allowed: str) -> str:
        value = self._text(key)
        if value not in allowed:
            raise self._wrong(key, " or ".join(allowed))
        return value

    def _minutes(self, key: str) -> float:
        value = self._value.get(key)
        if (
            not isinstance(value, (int, float))
            or isinstance(value, bool)
            or not 0.1 <= value <= 720
        ):
            raise self._wrong(key, "minutes, 0.1 to 720")
        return float(value)

    def _wrong(self, key: str, wanted: str) -> NodeError:
        given = json.dumps(self._value.get(key))[:80]
        return NodeError(f"{self._path}: {self._prefix}{key}: is {given}, wanted {wanted}")


def shell_variables(config: NodeConfig) -> dict[str, str]:
    """Return what the scripts in setup/ read from their environment."""
    fsx = config.fsx
    return {
        "NODE_CLUSTER": config.cluster,
        "NODE_ROLE": config.role,
        "NODE_STACK": config.stack,
        "NODE_RESOURCE": config.resource,
        "NODE_LOG_GROUP": config.log_group,
        "NODE_RUNS_IN": config.runs_in,
        "NODE_ENVIRONMENT": config.environment,
        "NODE_ELASTIC_IP": config.elastic_ip_allocation,
        "NODE_SETUP_SECONDS": str(round(60 * config.setup_minutes)),
        "NODE_EFS_ID": config.efs.id,
        "NODE_EFS_DNS": config.efs.dns,
        "NODE_EFS_MOUNT": config.efs.mount,
        "NODE_EFS_IAM": "1" if config.efs.iam else "",
        "NODE_FSX_DNS": fsx.dns if fsx else "",
        "NODE_FSX_NAME": fsx.mount_name if fsx else "",
        "NODE_FSX_MOUNT": fsx.mount if fsx else "",
        "AWS_DEFAULT_REGION": config.region,
        "AWS_REGION": config.region,
        # Not a pager that waits for a key, nor a question.
        "AWS_PAGER": "",
    }


def main() -> int:
    try:
        variables = shell_variables(load())
    except NodeError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    sys.stdout.write("".join(f"{name}={value}\0" for name, value in variables.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
