"""Whether two files have the same content, found out at the least cost that will do."""

from __future__ import annotations

from dataclasses import dataclass

from training.data.digest import Digest
from training.data.side import FileState, Side


@dataclass(frozen=True)
class Seen:
    """A file of one side, and what is known of its content."""

    side: Side
    path: str
    state: FileState
    known: Digest

    @property
    def is_known(self) -> bool:
        return self.known.sha256 is not None


def see(side: Side, path: str, state: FileState, expected: Digest | None = None) -> Seen:
    """Args: `expected` is what the side's manifest says, where that has been read."""
    return Seen(side, path, state, expected or side.told(path, state))


def learn(left: Seen, right: Seen) -> tuple[Digest, Digest]:
    """Return digests of both, which tell whether they are equal if anything short of a download
    does: files are read before S3 is asked, and what is not known before what is."""
    seen, known = (left, right), [left.known, right.known]
    for index in sorted((0, 1), key=lambda i: (seen[i].side.bucket is not None, seen[i].is_known)):
        if known[0].agrees(known[1]) is None:
            one, other = seen[index], known[1 - index]
            digest = one.side.digest(one.path, one.state, md5=bool(other.md5 or other.etag))
            known[index] = known[index].joined(digest)
    return known[0], known[1]
