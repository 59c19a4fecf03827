"""A data repository association: a folder that is linked to a bucket."""

from __future__ import annotations

import time
from typing import Any, Literal
from uuid import uuid4

from localaws.fsx.repository import Repository

Event = Literal["NEW", "CHANGED", "DELETED"]


class Association:
    """The link, and which changes of the bucket it follows."""

    def __init__(
        self,
        repository: Repository,
        s3_path: str,
        arn_prefix: str,
        batch_import: bool,
        chunk_size_mib: int,
        policies: dict[str, Any],
    ) -> None:
        self.association_id = f"dra-{uuid4().hex[:17]}"
        self.arn = f"{arn_prefix}:association/{repository.file_system_id}/{self.association_id}"
        self.repository = repository
        self.s3_path = s3_path
        self.batch_import = batch_import
        self.chunk_size_mib = chunk_size_mib
        self.policies = policies
        self.creation_time = time.time()

    def follows(self, event: Event) -> bool:
        """Return whether a change in the bucket changes the folder by itself."""
        return event in self.policies.get("AutoImportPolicy", {}).get("Events", [])

    def to_dict(self, tags: list[dict[str, str]]) -> dict[str, Any]:
        return {
            "AssociationId": self.association_id,
            "ResourceARN": self.arn,
            "FileSystemId": self.repository.file_system_id,
            "Lifecycle": "AVAILABLE",
            "FileSystemPath": self.repository.path,
            "DataRepositoryPath": self.s3_path,
            "BatchImportMetaDataOnCreate": self.batch_import,
            "ImportedFileChunkSize": self.chunk_size_mib,
            "S3": self.policies,
            "Tags": tags,
            "CreationTime": self.creation_time,
        }
