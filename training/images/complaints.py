"""What an engine's last lines mean when it could not sign in or push.

Engines pass on the registry's words, which the distribution specification gives a code each
(https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes), and ECR a text
(https://docs.aws.amazon.com/AmazonECR/latest/userguide/common-errors.html).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from training.container_engine import Engine
from training.errors import AwsError, JobFailed, TrainingError
from training.images import space
from training.images.destination import Destination
from training.images.published import no_repository

_GIB = 1024**3


class Lost(AwsError):
    """The registry could not be reached, or asked to come again later: trying again may help."""


class TagTaken(AwsError):
    """Somebody else has pushed an image of this tag meanwhile."""


@dataclass(frozen=True)
class _Said:
    """What an engine said, and where it happened."""

    engine: Engine
    destination: Destination
    text: str
    last: str


def judge(engine: Engine, destination: Destination, lines: Sequence[str]) -> TrainingError:
    """Return the error for what an engine said last.

    Args:
        engine: Which failed.
        destination: Where to.
        lines: Its last ones.
    """
    last = next((line.strip() for line in reversed(lines) if line.strip()), "no reason given")
    said = _Said(engine, destination, "\n".join(lines), last)
    for pattern, error in _MEANINGS:
        if pattern.search(said.text):
            return error(said)
    return AwsError(f"{destination.uri}: {engine.name} could not push: {last}")


def _tag_taken(said: _Said) -> TagTaken:
    return TagTaken(f"{said.destination.uri}: {said.last}")


def _disk_full(said: _Said) -> JobFailed:
    """Engines compress layers in a temporary folder."""
    engine = said.engine
    free = ", ".join(
        f"{path}: {shutil.disk_usage(space.existing(path)).free / _GIB:.1f} GiB free"
        for path in dict.fromkeys((engine.storage(), space.temporary(engine)))
    )
    return JobFailed(
        f"a disk is full ({said.last}). {free}; a push takes as much as the largest layer. Free "
        f"some ({space.how_to_free(engine)}), or set TMPDIR to a folder on a larger disk"
    )


def _expired(said: _Said) -> Lost:
    return Lost(f"{said.destination.uri}: the registry's token has expired ({said.last})")


def _not_permitted(said: _Said) -> AwsError:
    found = _ACTION.search(said.text)
    assert found is not None
    return AwsError(
        f"{said.destination.uri}: your identity lacks the permission {found['action']}. Ask for "
        f"it, or use another profile ({said.last})"
    )


def _denied(said: _Said) -> AwsError:
    return AwsError(
        f"{said.destination.uri}: the registry denies it ({said.last}). A push takes the "
        "permissions ecr:BatchCheckLayerAvailability, ecr:InitiateLayerUpload, "
        "ecr:UploadLayerPart, ecr:CompleteLayerUpload and ecr:PutImage on the repository"
    )


def _token_refused(said: _Said) -> AwsError:
    return AwsError(
        f"{said.destination.host}: the registry does not take the token that ECR gave "
        f"({said.last}). Is it a registry of this account, or one that this account may use?"
    )


def _unreachable(said: _Said) -> Lost:
    return Lost(
        f"{said.destination.host}: cannot be reached, or did not go on ({said.last}). Check the "
        "network and a proxy (HTTPS_PROXY), and in a VPC without internet its endpoints ecr.api, "
        "ecr.dkr and s3"
    )


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_ACTION = re.compile(r"not authorized to perform:? \[?(?P<action>ecr:\w+)")

_MEANINGS: tuple[tuple[re.Pattern[str], Callable[[_Said], TrainingError]], ...] = (
    (_words(r"tag .* already exists", "tag invalid", "ImageTagAlreadyExists"), _tag_taken),
    (_words("no space left on device", "disk quota exceeded"), _disk_full),
    (_words("authorization token has expired"), _expired),
    (
        _words("name unknown", "NAME_UNKNOWN", "repository .* does not exist"),
        lambda said: no_repository(said.destination),
    ),
    (_ACTION, _not_permitted),
    (_words(r"\bdenied\b", "not authorized", "403 Forbidden", r"status:? 403"), _denied),
    (
        _words(
            "unauthorized", "authentication required", "no basic auth", "invalid username/password"
        ),
        _token_refused,
    ),
    (
        _words(
            "connection (refused|reset)",
            "no such host",
            "no route to host",
            "network is unreachable",
            "timed? ?out",
            "i/o timeout",
            "handshake timeout",
            "deadline exceeded",
            r"\bEOF\b",
            "broken pipe",
            "use of closed network connection",
            "failure in name resolution",
            "toomanyrequests",
            "too many requests",
            "rate exceeded",
            "throttl",
            r"\b50[0234]\b",
            "internal server error",
            "bad gateway",
            "service unavailable",
        ),
        _unreachable,
    ),
)
"""The first that matches counts."""
