"""elastic.json: what the parts of an elastic job are told, and who else takes part in it.

Whoever starts the containers writes it (node/conductor/, on platform ec2), and the list of hosts:

    {"hosts": [{"host": "10.0.0.2", "slots": 8, "address": "10.0.0.2", "port": 40001,
                "user": "root", "host_key": "ssh-ed25519 AAAA..."}]}

The head's own entry has no more than `host` and `slots`.
"""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from .errors import EntrypointError
from .json_file import read_object
from .ssh_client import Worker
from .ssh_key import checked_public_key

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_FOLDER = re.compile(r"/[A-Za-z0-9._/-]{1,60}")
"""Short and without blanks: a socket's path has 107 characters, and shells read it."""
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")


class ElasticHead(NamedTuple):
    """What `elastic` is told."""

    address: str
    hosts: str
    """File with the list of hosts; it is replaced whenever one comes or goes."""
    identity: str
    """File with the private key that all hosts let in."""
    sockets: str
    """Folder of the sockets of ranks, the same on every host."""
    takes_part: bool
    """Whether ranks run on this host too."""
    least_processes: int
    most_processes: int
    wait_s: int
    """With fewer processes than least_processes it waits so long for more."""


class ElasticHost(NamedTuple):
    """What `host` is told."""

    address: str
    head_address: str
    head_key: str
    sockets: str


class Listed(NamedTuple):
    """The hosts that may be used now."""

    lines: List[str]
    """`host:slots`, as horovodrun reads them."""
    workers: List[Worker]
    """How to reach those that are not this one."""


def read_elastic_head(path: str) -> ElasticHead:
    """Raises: EntrypointError: Something is missing or cannot be."""
    document = read_object(path)
    head = ElasticHead(
        address=_matching(path, document, "address", _HOST),
        hosts=_text(path, document, "hosts"),
        identity=_text(path, document, "identity"),
        sockets=_matching(path, document, "sockets", _FOLDER),
        takes_part=document.get("takes_part") is True,
        least_processes=_count(path, document, "least_processes"),
        most_processes=_count(path, document, "most_processes"),
        wait_s=_count(path, document, "wait_s"),
    )
    if head.least_processes > head.most_processes:
        raise EntrypointError(
            f"{path}: least_processes: {head.least_processes}; there may be no more than "
            f"most_processes, {head.most_processes}"
        )
    return head


def read_elastic_host(path: str) -> ElasticHost:
    """Raises: EntrypointError: Something is missing or cannot be."""
    document = read_object(path)
    return ElasticHost(
        address=_matching(path, document, "address", _HOST),
        head_address=_matching(path, document, "head_address", _HOST),
        head_key=checked_public_key(_text(path, document, "head_key")),
        sockets=_matching(path, document, "sockets", _FOLDER),
    )


def read_listed(path: str, head_address: str) -> Listed:
    """Read the list of hosts.

    Raises:
        EntrypointError: It is no such list.
    """
    entries = read_object(path).get("hosts")
    if not isinstance(entries, list):
        raise EntrypointError(f"{path}: hosts: is no list")
    lines, workers = [], []
    for entry in entries:
        if not isinstance(entry, dict):
            raise EntrypointError(f"{path}: hosts: {entry!r}; expected an object")
        host = _matching(path, entry, "host", _HOST)
        lines.append(f"{host}:{_count(path, entry, 'slots')}")
        if host != head_address:
            workers.append(_worker(path, entry, host, head_address))
    return Listed(lines, workers)


def _worker(path: str, entry: Dict[str, Any], host: str, head_address: str) -> Worker:
    port = _count(path, entry, "port")
    if port > 65535:
        raise EntrypointError(f"{path}: port: {port}; expected a number from 1 to 65535")
    return Worker(
        host=host,
        address=_matching(path, entry, "address", _HOST),
        port=port,
        user=_matching(path, entry, "user", _USER),
        host_key=checked_public_key(_text(path, entry, "host_key")),
        head_address=head_address,
    )


def _text(path: str, document: Dict[str, Any], name: str) -> str:
    value: Optional[Any] = document.get(name)
    if not isinstance(value, str) or not value:
        raise EntrypointError(f"{path}: {name}: {value!r}; expected a text")
    return value


def _matching(path: str, document: Dict[str, Any], name: str, pattern: "re.Pattern[str]") -> str:
    value = _text(path, document, name)
    if not pattern.fullmatch(value):
        raise EntrypointError(f"{path}: {name}: {value!r}; expected {pattern.pattern}")
    return value


def _count(path: str, document: Dict[str, Any], name: str) -> int:
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise EntrypointError(f"{path}: {name}: {value!r}; expected a whole number from 1")
    return value
