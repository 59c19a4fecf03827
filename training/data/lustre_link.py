"""How a folder of an FSx for Lustre file system is linked to a place in S3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training.aws.errors import translated
from training.errors import PreflightError

if TYPE_CHECKING:
    from mypy_boto3_fsx import FSxClient

_REMEDIES = {
    "CREATING": "wait until aws fsx describe-data-repository-associations says AVAILABLE",
    "DELETING": "run this again when it is gone: what is not linked is copied",
    "FAILED": "it cannot be repaired: delete it (aws fsx delete-data-repository-association), and "
    "make it again",
}
"""What to do about a link over which nothing comes; over those in other states FSx can be asked.
https://docs.aws.amazon.com/fsx/latest/LustreGuide/dra-lifecycles.html"""


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
        deletes_by_itself: Whether what is deleted in the folder is deleted in S3 too.
        state: As FSx calls it: AVAILABLE, MISCONFIGURED and so on.
        said: What FSx says of a state that is not AVAILABLE.
    """

    file_system_id: str
    folder: str
    address: str
    takes_import: bool
    takes_export: bool = True
    exports_by_itself: bool = False
    deletes_by_itself: bool = False
    state: str = "AVAILABLE"
    said: str = ""

    def mirrors(self, address: str, folder: str) -> bool:
        """Return whether a place in S3 and a folder of the file system are the same data."""
        inside = _below(self.address, address)
        return inside is not None and inside == _below(self.folder, folder)

    @property
    def is_usable(self) -> bool:
        """Whether FSx can be asked to import and export over it."""
        return self.state not in _REMEDIES

    def require_usable(self) -> None:
        """Refuse a link over which nothing comes.

        Raises:
            PreflightError: It is one.
        """
        if not self.is_usable:
            raise PreflightError(f"{self}: {_REMEDIES[self.state]}")

    def __str__(self) -> str:
        """Name the link, and its state with what FSx says of it."""
        said = f" ({self.said})" if self.said else ""
        ends = f"/{self.folder} of {self.file_system_id} to {self.address}"
        return f"the link of {ends} is {self.state}{said}"


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
        found = [
            link
            for link in _association_links(client, file_system_id)
            if link.mirrors(address, folder)
        ]
        if found:
            # One that was replaced may still be listed.
            return min(found, key=lambda link: not link.is_usable)
        links = _import_path_links(client, file_system_id)
        return next((link for link in links if link.mirrors(address, folder)), None)


def find_deleting_link(client: FSxClient, file_system_id: str, folder: str) -> Link | None:
    """Return a link over which what is deleted in a folder, or below it, is deleted in S3 too.

    Raises:
        AwsError: AWS refused or could not be reached.
    """

    def touches(link: Link) -> bool:
        return _below(link.folder, folder) is not None or _below(folder, link.folder) is not None

    with translated():
        links = _association_links(client, file_system_id)
        return next((link for link in links if link.deletes_by_itself and touches(link)), None)


def _association_links(client: FSxClient, file_system_id: str) -> Iterator[Link]:
    for association in _associations(client, file_system_id):
        if link := _association_link(file_system_id, association):
            yield link


def _association_link(file_system_id: str, found: Any) -> Link | None:
    """Return the link of an association; None where FSx does not say what it links."""
    if not (found.get("FileSystemPath") and found.get("DataRepositoryPath")):
        return None
    state = found.get("Lifecycle", "AVAILABLE")
    exported = found.get("S3", {}).get("AutoExportPolicy", {}).get("Events", ())
    return Link(
        file_system_id,
        folder=found["FileSystemPath"].strip("/"),
        address=found["DataRepositoryPath"].rstrip("/"),
        takes_import=True,
        # A misconfigured one follows nothing.
        exports_by_itself={"NEW", "CHANGED"} <= set(exported) and state != "MISCONFIGURED",
        deletes_by_itself="DELETED" in exported,
        state=state,
        said=found.get("FailureDetails", {}).get("Message", ""),
    )


def _import_path_links(client: FSxClient, file_system_id: str) -> Iterator[Link]:
    answer = client.describe_file_systems(FileSystemIds=[file_system_id])
    for system in answer.get("FileSystems", ()):
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
        file_system_id,
        folder,
        address,
        takes_import=False,
        takes_export=exported == address,
        state=repository.get("Lifecycle", "AVAILABLE"),
        said=repository.get("FailureDetails", {}).get("Message", ""),
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
