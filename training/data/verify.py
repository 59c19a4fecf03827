"""Compare two copies of a data set, and each with its manifest, and name every difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from training.data.compare import learn, see
from training.data.digest import Digest, digest_of
from training.data.progress import Progress
from training.data.side import FileState, Side
from training.data.threads import thread_pool

Kind = Literal["missing", "size", "content", "manifest"]


@dataclass(frozen=True, order=True)
class Difference:
    """One file in which a copy is not what it should be.

    Attributes:
        path: The file.
        kind: `missing` on the side, another `size` or `content` than on the other side, or not
            what the side's own `manifest` says.
        side: The name of the side.
        detail: The values that differ.
    """

    path: str
    kind: Kind
    side: str
    detail: str

    def to_json(self) -> dict[str, str]:
        return asdict(self)


Files = Mapping[str, FileState]


def bytes_to_compare(left: Files, right: Files) -> int:
    """Return the sum of sizes of what is on both sides, for progress."""
    return sum(state.size for path, state in left.items() if path in right)


def verify(
    left: Side,
    right: Side,
    left_files: Files,
    right_files: Files,
    *,
    jobs: int,
    progress: Progress,
) -> list[Difference]:
    """Return every difference, by path; none where both hold the same.

    Folders are read whole. S3 tells the SHA-256 that it checked at upload; an object without one
    is downloaded.
    """
    differences = [
        *_missing(left, left_files, right_files),
        *_missing(right, right_files, left_files),
        *_against_manifest(left, left_files),
        *_against_manifest(right, right_files),
    ]
    both = sorted(left_files.keys() & right_files.keys())

    def compare(path: str) -> Difference | None:
        difference = _compare(left, right, path, left_files[path], right_files[path])
        progress.advance(left_files[path].size)
        return difference

    with thread_pool(jobs) as pool:
        differences += [found for found in pool.map(compare, both) if found]
    return sorted(differences)


def _missing(side: Side, there: Files, wanted: Files) -> Iterator[Difference]:
    for path in wanted.keys() - there.keys():
        yield Difference(path, "missing", side.name, f"{wanted[path].size:,} bytes elsewhere")


def _against_manifest(side: Side, files: Files) -> Iterator[Difference]:
    """Compare sizes with the side's manifest: what both sides lack is found only so."""
    manifest = side.read_manifest()
    for entry in manifest.files if manifest else ():
        state = files.get(entry.path)
        if state is None:
            yield Difference(entry.path, "manifest", side.name, "listed, but not there")
        elif state.size != entry.size:
            detail = f"listed with {entry.size:,} bytes, has {state.size:,}"
            yield Difference(entry.path, "manifest", side.name, detail)


def _compare(
    left: Side, right: Side, path: str, left_state: FileState, right_state: FileState
) -> Difference | None:
    if left_state.size != right_state.size:
        detail = f"{right_state.size:,} bytes, not {left_state.size:,}"
        return Difference(path, "size", right.name, detail)
    left_digest, right_digest = learn(see(left, path, left_state), see(right, path, right_state))
    if left_digest.agrees(right_digest) is None or _may_differ_by_parts(left_digest, right_digest):
        left_digest = _read_digest(left, path, left_state)
        right_digest = _read_digest(right, path, right_state)
    if left_digest.agrees(right_digest):
        return None
    return Difference(
        path, "content", right.name, f"SHA-256 {_shown(right_digest)}, not {_shown(left_digest)}"
    )


def _may_differ_by_parts(left: Digest, right: Digest) -> bool:
    """Return whether only S3's checksums differ: another program cuts a file in other parts.

    What else differs is read too, for its SHA-256.
    """
    return left.agrees(right) is False and not (left.sha256 and right.sha256)


def _read_digest(side: Side, path: str, state: FileState) -> Digest:
    return digest_of(side.read(path, state), state.size)


def _shown(digest: Digest) -> str:
    return digest.sha256 or digest.s3_sha256 or "unknown"
