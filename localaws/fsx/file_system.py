"""An FSx for Lustre file system."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

from moto.fsx.models import FileSystem

SCRATCH = ("SCRATCH_1", "SCRATCH_2")


class LustreFileSystem(FileSystem):
    """moto's file system with what FSx gives one of its own: mount name, lifecycle, times."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.file_system_id = f"fs-{uuid4().hex[:17]}"
        region, account = self.backend.region_name, self.backend.account_id
        self.resource_arn = (
            f"arn:{self.backend.partition}:fsx:{region}:{account}:file-system/{self.file_system_id}"
        )
        self.dns_name = f"{self.file_system_id}.fsx.{region}.amazonaws.com"
        self.creation_time = time.time()
        self.version = "2.15"
        self.network_interface_ids: list[str] = []
        self.lustre_configuration = {
            "DeploymentType": "SCRATCH_1",
            "DataCompressionType": "NONE",
            **(self.lustre_configuration or {}),
        }
        # Only the first generation has one name for all.
        self.mount_name = "fsx" if self.deployment_type == "SCRATCH_1" else uuid4().hex[:8]

    @property
    def deployment_type(self) -> str:
        return str((self.lustre_configuration or {})["DeploymentType"])

    @property
    def export_path(self) -> str | None:
        """What the root stands for when files are exported, where there is an ImportPath.

        Without one FSx exports beside what it imports:
        https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
        """
        configuration = self.lustre_configuration or {}
        if not configuration.get("ImportPath"):
            return None
        bucket = configuration["ImportPath"].removeprefix("s3://").partition("/")[0]
        made_at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self.creation_time))
        return configuration.get("ExportPath") or f"s3://{bucket}/FSxLustre{made_at}"

    def to_dict(self) -> dict[str, Any]:
        configuration = dict(self.lustre_configuration or {})
        import_path = configuration.pop("ImportPath", None)
        configuration.pop("ExportPath", None)
        auto_import = configuration.pop("AutoImportPolicy", "NONE")
        configuration["MountName"] = self.mount_name
        if import_path:
            configuration["DataRepositoryConfiguration"] = {
                "Lifecycle": "AVAILABLE",
                "ImportPath": import_path,
                "ExportPath": self.export_path,
                "AutoImportPolicy": auto_import,
            }
        return {
            **super().to_dict(),
            "Lifecycle": "AVAILABLE",
            "NetworkInterfaceIds": self.network_interface_ids,
            "OwnerId": self.backend.account_id,
            "CreationTime": self.creation_time,
            "FileSystemTypeVersion": self.version,
            "LustreConfiguration": configuration,
        }
