"""File systems of FSx."""

from __future__ import annotations

from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask, ask_all


class Fsx:
    """Amazon FSx."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def file_system(self, file_system_id: str) -> dict[str, Any] | None:
        """Return a file system; None where there is none of that id."""
        try:
            answer = ask(self._client, "describe_file_systems", FileSystemIds=[file_system_id])
        except AwsRefused as error:
            if error.code == "FileSystemNotFound":
                return None
            raise
        return next(iter(answer["FileSystems"]), None)

    def file_systems(self) -> list[dict[str, Any]]:
        """Return the account's file systems in this region."""
        return ask_all(self._client, "describe_file_systems", "FileSystems")

    def associations(self, file_system_id: str) -> list[dict[str, Any]]:
        """Return the links of a file system's folders to places in S3."""
        request: dict[str, Any] = {
            "Filters": [{"Name": "file-system-id", "Values": [file_system_id]}]
        }
        found: list[dict[str, Any]] = []
        while True:  # botocore knows no paginator for it.
            answer = ask(self._client, "describe_data_repository_associations", **request)
            found += answer["Associations"]
            if not answer.get("NextToken"):
                return found
            request["NextToken"] = answer["NextToken"]
