"""Asks AWS, the register and the hosts themselves."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .. import paths, registrations
from ..aws_cli import AwsError
from ..bounded import Bounded
from ..config import NodeConfig
from ..errors import NodeError
from ..groups import GroupInstance, instances
from ..reach import open_ports
from ..registrations import Registration
from .choice import LeftOut, choose

_READ_S = 4
_CONNECT_S = 2


@dataclass(frozen=True)
class Discovery:
    """The hosts of this moment."""

    hosts: tuple[Registration, ...]
    left_out: tuple[LeftOut, ...]
    groups_asked: bool
    """False where AWS could not be asked, and the register alone was gone by."""

    def to_json(self) -> dict[str, Any]:
        return {
            "hosts": [host.to_json() for host in self.hosts],
            "left_out": [asdict(one) for one in self.left_out],
            "groups_asked": self.groups_asked,
        }


def discover(config: NodeConfig, *, port: int = paths.SSH_PORT) -> Discovery:
    """Find the hosts that can be used now; it takes at most 15 s for 256 of them.

    Raises:
        NodeError: The register cannot be read.
    """
    members = _ask_groups(config)
    found = _read_register(config)
    choice = choose(found, members, now=time.time())
    open_ones = open_ports((host.address for host in choice.hosts), port, timeout_s=_CONNECT_S)
    hosts = [host for host in choice.hosts if host.address in open_ones]
    for host in choice.hosts:
        if host.address not in open_ones:
            choice.leave_out(host, f"port {port} of {host.address} does not answer")
    return Discovery(tuple(hosts), tuple(choice.left_out), groups_asked=members is not None)


def _ask_groups(config: NodeConfig) -> Mapping[str, GroupInstance] | None:
    try:
        return instances(config)
    except AwsError as error:
        _say(f"the auto-scaling groups cannot be asked, so the register alone counts: {error}")
        return None


def _read_register(config: NodeConfig) -> list[Registration]:
    def read() -> Any:
        found, rejected = registrations.read_all(config.nodes)
        return [[one.to_json() for one in found], rejected]

    try:
        found, rejected = Bounded().call(read, timeout_s=_READ_S)
    except NodeError as error:
        raise NodeError(f"{config.nodes}: cannot be read: {error}") from error
    for name, reason in rejected.items():
        _say(f"{config.nodes / name}: {reason}; left out")
    return [Registration(**one) for one in found]


def _say(text: str) -> None:
    sys.stderr.write(f"hosts: {text}\n")
