"""resourceconfig.json: which hosts a job has, and which of them this is."""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .errors import EntrypointError
from .json_file import read_object

_HOST = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$")
_INTERFACE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$")
"""Linux's limit is 15 characters; only plain ones, since Open MPI hands them to a remote shell."""
_INSTANCE_TYPE = re.compile(r"^[a-z0-9_.-]{1,64}$")


class Resources(NamedTuple):
    """The machines of a job."""

    hosts: List[str]
    """In the order of their numbers: algo-1, algo-2, algo-10. The first is the head."""
    current_host: str
    network_interface: Optional[str]
    instance_type: Optional[str]


def read_resources(path: str) -> Resources:
    """Read the file.

    Raises:
        EntrypointError: Something in it is missing or cannot be.
    """
    document = read_object(path)
    hosts = _hosts(path, document)
    current = document.get("current_host")
    if current not in hosts:
        raise EntrypointError(
            f"{path}: current_host: {current!r} is not one of hosts, {', '.join(hosts)}"
        )
    return Resources(
        hosts=sorted(hosts, key=_number),
        current_host=str(current),
        network_interface=_plain(path, document, "network_interface_name", _INTERFACE),
        instance_type=_plain(path, document, "current_instance_type", _INSTANCE_TYPE),
    )


def _hosts(path: str, document: Dict[str, Any]) -> List[str]:
    hosts = document.get("hosts")
    if not isinstance(hosts, list) or not hosts:
        raise EntrypointError(f"{path}: hosts: {hosts!r}; expected a list of host names")
    for host in hosts:
        if not isinstance(host, str) or not _HOST.match(host):
            raise EntrypointError(
                f"{path}: hosts: {host!r} is no host name; it has letters, digits, . and -"
            )
    if len(set(hosts)) != len(hosts):
        raise EntrypointError(f"{path}: hosts: a name is there twice: {', '.join(hosts)}")
    return list(hosts)


def _number(host: str) -> Tuple[str, int, str]:
    """Sort algo-10 after algo-2: SageMaker sorts the list as text."""
    name, _, number = host.rpartition("-")
    return (name, int(number), host) if number.isdigit() else (host, -1, host)


def _plain(
    path: str, document: Dict[str, Any], key: str, pattern: "re.Pattern[str]"
) -> Optional[str]:
    value = document.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not pattern.match(value):
        raise EntrypointError(f"{path}: {key}: {value!r} is no such name ({pattern.pattern})")
    return value
