"""Uploads an image, again after a lost connection: layers that are up are not sent twice."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from training.aws.ecr import Token
from training.container_engine import Engine
from training.errors import AwsError
from training.images.complaints import Lost
from training.images.destination import Destination
from training.images.sign_in import SignedIn, signed_in

PAUSES_S = (2.0, 4.0, 8.0, 16.0)
"""Before each further attempt."""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Upload:
    """What goes where."""

    engine: Engine
    source: str
    """The image's name on this machine."""
    destination: Destination
    tag: str


def upload(
    order: Upload,
    new_token: Callable[[], Token],
    tell: Callable[[str], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Push an image; return the digest that the engine tells.

    Args:
        order: What goes where.
        new_token: Gets a token; asked anew for each attempt, since one may have expired.
        tell: Takes a line for the user.
        sleep: Waits, for seconds.

    Raises:
        TagTaken: There is an image of this tag meanwhile.
        AwsError: The registry refused, or could not be reached at any attempt.
        UsageError: The repository is not there.
        JobFailed: A disk is full.
    """
    for pause_s in PAUSES_S:
        try:
            return _attempt(order, new_token(), tell)
        except Lost as lost:
            tell(f"{lost}\ntrying again in {pause_s:g} s")
            sleep(pause_s)
    return _attempt(order, new_token(), tell)


def _attempt(order: Upload, token: Token, tell: Callable[[str], None]) -> str:
    with signed_in(order.engine, order.destination, token) as session:
        push = _push_with_docker if order.engine.name == "docker" else _push
        said = push(session, order, tell)
    found = _DIGEST.findall(said)
    if not found:
        raise AwsError(
            f"{order.destination.tagged(order.tag)}: {order.engine.name} has not told the digest "
            "of what it pushed. Run the command again: it looks at what is there"
        )
    return str(found[-1])


def _push(session: SignedIn, order: Upload, tell: Callable[[str], None]) -> str:
    with tempfile.TemporaryDirectory(prefix="mask-rcnn-digest-") as folder:
        file = Path(folder) / "digest"
        session.run(
            tell,
            "push",
            *("--format", "v2s2"),  # Docker's own; see published.OF_DOCKER
            *("--digestfile", str(file)),
            order.source,
            f"docker://{order.destination.tagged(order.tag)}",
        )
        return file.read_text(encoding="ascii") if file.exists() else ""


def _push_with_docker(session: SignedIn, order: Upload, tell: Callable[[str], None]) -> str:
    target = order.destination.tagged(order.tag)
    session.run(tell, "tag", order.source, target)
    lines = session.run(tell, "push", target)
    return "\n".join(line for line in lines if " digest: " in line)
