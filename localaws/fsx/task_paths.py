"""What the paths of a data repository task name; each type of task has paths of its own kind.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryTask.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from localaws import file_systems
from localaws.fsx.repository import Repository


@dataclass(frozen=True)
class Selection:
    """What a task works on: a file or folder of a repository, by its key; empty is all of it."""

    repository: Repository
    key: str

    def covers(self, key: str) -> bool:
        return not self.key or key == self.key or key.startswith(f"{self.key}/")


def everything(repositories: Sequence[Repository]) -> list[Selection]:
    """Return what a task without paths works on."""
    return [Selection(repository, "") for repository in repositories]


def in_bucket(path: str, repositories: Sequence[Repository]) -> list[Selection]:
    """Return what a path of an import names: `s3://bucket/prefix`, the prefix as a whole folder.

    Raises:
        ValueError: It is of another form, or nothing of it is linked.
    """
    wanted = Repository.parse("", "/", path)
    found = [
        Selection(repository, wanted.prefix.rstrip("/"))
        for repository in repositories
        if repository.bucket == wanted.bucket
        and (
            wanted.prefix.startswith(repository.prefix)
            or repository.prefix.startswith(wanted.prefix)
        )
    ]
    if not found:
        raise ValueError(f"path {path} is not linked to the file system")
    return found


def in_file_system(path: str, repositories: Sequence[Repository]) -> list[Selection]:
    """Return what a path of an export or release names, which is relative to the mount point.

    Raises:
        ValueError: There is no such file or folder, or nothing of it is linked.
    """
    wanted = PurePosixPath("/", path.strip("/"))
    found = [
        Selection(repository, key)
        for repository in repositories
        if ".." not in wanted.parts and (key := _key(wanted, repository)) is not None
    ]
    if not found:
        raise ValueError(f"path {path} is not linked to a bucket")
    root = file_systems.folder(found[0].repository.file_system_id)
    if not (root / wanted.relative_to("/")).exists():
        raise ValueError(f"path {path} does not exist")
    return found


def _key(wanted: PurePosixPath, repository: Repository) -> str | None:
    folder = PurePosixPath("/", repository.path.strip("/"))
    if folder.is_relative_to(wanted):
        return ""
    if wanted.is_relative_to(folder):
        return repository.prefix + wanted.relative_to(folder).as_posix()
    return None
