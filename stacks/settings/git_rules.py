"""Which addresses and branches of Git repositories SageMaker can clone."""

from __future__ import annotations

import re
from collections.abc import Iterator

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_GitConfig.html
_ADDRESS = re.compile(
    r"https://(?P<host>[A-Za-z0-9.-]{1,253})(:(?P<port>[0-9]{1,5}))?(/[A-Za-z0-9._~-]+)+/?"
)
_HOST_PART = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
LAST_PORT = 65535

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")


def problems_of_address(address: str | None) -> Iterator[str]:
    """Yield why a text is no address of a repository."""
    if address is None:
        return
    match = _ADDRESS.fullmatch(address)
    if match is None:
        yield "it is no such address"
        return
    if not all(_HOST_PART.fullmatch(part) for part in match["host"].split(".")):
        yield f"{match['host']} is no name of a host"
    if match["port"] and not 1 <= int(match["port"]) <= LAST_PORT:
        yield f"{match['port']} is no port: they are 1 to {LAST_PORT}"


def problems_of_branch(branch: str | None) -> Iterator[str]:
    """Yield why no branch is called so: https://git-scm.com/docs/git-check-ref-format."""
    if branch is None:
        return
    if not _BRANCH.fullmatch(branch):
        yield "it is no such name"
    if ".." in branch:
        yield "no branch's name holds .."
    if branch.endswith("."):
        yield "no branch's name ends with a dot"
    for part in branch.split("/"):
        if not part or part.startswith(".") or part.endswith(".lock"):
            yield "between its slashes nothing is empty, begins with a dot or ends with .lock"
