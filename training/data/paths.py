"""Paths of a data set's files, and the S3 keys they have.

A path is relative, with `/` between its parts, and the same in a folder, a bucket and a manifest.
"""

from __future__ import annotations

import re

from training.errors import UsageError

LONGEST_KEY_BYTES = 1024
"""S3's limit: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html"""

LONGEST_NAME_BYTES = 255
"""Of one part, on ext4, Lustre and EFS alike."""

_HARMLESS = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")
"""Most paths, which this tells ten times faster."""


def problem_of_path(path: str) -> str | None:
    """Return why a path cannot be a data set's file, or None where it can.

    What is refused would leave the data set's folder, or is no file name on Linux: a key is
    whatever somebody put in a bucket.
    """
    if len(path) <= LONGEST_NAME_BYTES and _HARMLESS.fullmatch(path):
        return None
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError:
        return "is not valid UTF-8"
    parts = encoded.split(b"/")
    faults = {
        "has a null character": b"\0" in encoded,
        "has an empty part: it begins or ends with /, or has //": b"" in parts,
        "has a part . or ..": b"." in parts or b".." in parts,
        f"has a part of more than {LONGEST_NAME_BYTES} bytes": (
            max(map(len, parts)) > LONGEST_NAME_BYTES
        ),
        f"has more than {LONGEST_KEY_BYTES} bytes": len(encoded) > LONGEST_KEY_BYTES,
    }
    return next((fault for fault, is_there in faults.items() if is_there), None)


def clean_prefix(text: str) -> str:
    """Return a path below a bucket or a file system without slashes at its ends.

    Raises:
        UsageError: A part of it is empty, `.` or `..`.
    """
    prefix = text.strip("/")
    problem = problem_of_path(prefix) if prefix else None
    if problem:
        raise UsageError(f"path {text!r} {problem}")
    return prefix


def path_of_set(text: str) -> str:
    """Return the path of a data set below a place of the stacks, clean.

    Raises:
        UsageError: It cannot be one, or is the place itself.
    """
    prefix = clean_prefix(text)
    if not prefix:
        raise UsageError(f"--path {text!r}: must name a folder")
    return prefix


def key_of(prefix: str, path: str) -> str:
    """Return the key of a file below a clean prefix; an empty prefix is the bucket's root.

    Raises:
        UsageError: S3 does not take so long a key.
    """
    key = f"{prefix}/{path}" if prefix else path
    if len(key.encode("utf-8")) > LONGEST_KEY_BYTES:
        raise UsageError(
            f"{path!r}: its S3 key has more than {LONGEST_KEY_BYTES} bytes, which S3 refuses. "
            "Shorten its name or --path"
        )
    return key


def path_of(prefix: str, key: str) -> str:
    """Return the path of a key below a clean prefix: the inverse of `key_of`.

    Raises:
        UsageError: The key is elsewhere, or names no file inside the data set.
    """
    start = f"{prefix}/" if prefix else ""
    if not key.startswith(start):
        raise UsageError(f"S3 key {key!r} is not below {prefix!r}")
    path = key[len(start) :]
    problem = problem_of_path(path)
    if problem:
        raise UsageError(
            f"S3 key {key!r} {problem}: it cannot be copied to a folder. Rename or remove it"
        )
    return path


def require_tree(paths: set[str], name: str) -> None:
    """Refuse a file where another file needs a folder: S3 may have both `a` and `a/b`.

    Raises:
        UsageError: With the first such path.
    """
    for path in sorted(paths):
        parent = path
        while "/" in parent:
            parent = parent.rpartition("/")[0]
            if parent in paths:
                raise UsageError(
                    f"{name}: has both a file {parent!r} and {path!r} inside it, which no folder "
                    "can hold. Rename one"
                )
