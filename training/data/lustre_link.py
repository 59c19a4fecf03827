"""How a folder of an FSx for Lustre file system is linked to a place in S3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training.aws.errors import translated

if TYPE_CHECKING:
    from mypy_boto3_fsx import FSxClient


@dataclass(frozen=True)
class Link:
    """A folder that mirrors a place in S3.

    Attributes:
        file_system_id: `fs-…`.
        folder: Of the file system, without slashes at its ends; empty for its root.
        address: s3://bucket/prefix, without a slash at its end.
        takes_import: Whether FSx imports on demand: over an association. With ImportPath it has
            listed the bucket once, and follows it by itself.
            https://docs.aws.amazon.com/fsx/latest/LustreGuide/data-repository-tasks.html
        takes_export: Whether what is exported goes back to where it came from. With ImportPath
            that depends on ExportPath, which is a folder of its own where nobody set it.
        exports_by_itself: Whether new and changed files appear in S3 without being asked for.
    """

    file_system_id: str
    folder: str
    address: str
    takes_import: bool
    takes_export: bool = True
    exports_by_itself: bool = False

    def mirrors(self, address: str, folder: str) -> bool:
        """Return whether a place in S3 and a folder of the file system are the same data."""
        inside = _below(self.address, address)
        return inside is not None and inside == _below(self.folder, folder)


def find_link(client: FSxClient, file_system_id: str, address: str, folder: str) -> Link | None:
    """Return the link over which a folder mirrors a place in S3, if there is one.

    Args:
        client: FSx.
        file_system_id: `fs-…`.
        address: s3://bucket/prefix.
        folder: Of the file system, without slashes at its ends.

    Raises:
        AwsError: AWS refused or could not be reached.
    """
    with translated():
        links = _links(client, file_system_id)
        return next((link for link in links if link.mirrors(address, folder)), None)


def _links(client: FSxClient, file_system_id: str) -> Iterator[Link]:
    for found in _associations(client, file_system_id):
        exported = found.get("S3", {}).get("AutoExportPolicy", {}).get("Events", ())
        yield Link(
            file_system_id,
            folder=found.get("FileSystemPath", "/").strip("/"),
            address=found.get("DataRepositoryPath", "").rstrip("/"),
            takes_import=True,
            exports_by_itself={"NEW", "CHANGED"} <= set(exported),
        )
    answer = client.describe_file_systems(FileSystemIds=[file_system_id])
    for system in answer["FileSystems"]:
        lustre: Any = system.get("LustreConfiguration", {})
        repository = lustre.get("DataRepositoryConfiguration", {})
        if repository.get("ImportPath"):
            yield _import_path_link(file_system_id, repository)


def _import_path_link(file_system_id: str, repository: Any) -> Link:
    """Return the link of a file system that was made with ImportPath."""
    address = repository["ImportPath"].rstrip("/")
    # The root stands for the root of the bucket, whatever part of it is imported.
    folder = address.removeprefix("s3://").partition("/")[2]
    exported = f"{repository.get('ExportPath', '').rstrip('/')}/{folder}".rstrip("/")
    return Link(
        file_system_id, folder, address, takes_import=False, takes_export=exported == address
    )


def _associations(client: FSxClient, file_system_id: str) -> Iterator[Any]:
    request: Any = {"Filters": [{"Name": "file-system-id", "Values": [file_system_id]}]}
    while True:
        page = client.describe_data_repository_associations(**request)
        yield from page.get("Associations", ())
        if not page.get("NextToken"):
            return
        request["NextToken"] = page["NextToken"]


def _below(parent: str, child: str) -> str | None:
    """Return the path from parent to child, or None where child is elsewhere."""
    if parent == child:
        return ""
    if not parent:
        return child
    return child[len(parent) + 1 :] if child.startswith(f"{parent}/") else None
