"""EFS: each file system is a folder, and what moto's API lacks for updates."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from moto.efs import urls
from moto.efs.exceptions import BadRequest
from moto.efs.models import EFSBackend, FileSystem
from moto.efs.responses import EFSResponse

from localaws import file_systems


class ElasticFileSystemBackend(EFSBackend):
    """The file systems of one region."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def create_file_system(self, *args: Any, **kwargs: Any) -> FileSystem:
        _check_throughput(
            kwargs.get("throughput_mode"), kwargs.get("provisioned_throughput_in_mibps")
        )
        file_system = super().create_file_system(*args, **kwargs)
        file_system.file_system_protection = dict(_PROTECTED)  # type: ignore[attr-defined]
        file_systems.make(file_system.file_system_id)
        return file_system

    def delete_file_system(self, file_system_id: str) -> None:
        super().delete_file_system(file_system_id)
        file_systems.remove(file_system_id)


PROTECTION_PATH = "/2015-02-01/file-systems/<file_system_id>/protection"
"""Where moto has no operation."""

_PROTECTED = {"ReplicationOverwriteProtection": "ENABLED"}
"""https://docs.aws.amazon.com/efs/latest/ug/API_FileSystemProtectionDescription.html"""


def _check_throughput(mode: str | None, provisioned_mibps: float | None) -> None:
    if (mode == "provisioned") != (provisioned_mibps is not None):
        raise BadRequest(
            "ProvisionedThroughputInMibps is for ThroughputMode provisioned, which needs it"
        )


_Answer = tuple[str, dict[str, Any]]


class ElasticFileSystemResponse(EFSResponse):
    """EFS's operations, with the changes that moto does not have."""

    def _file_system(self) -> FileSystem:
        file_system_id = self._get_param("FileSystemId")
        _, (file_system,) = self.efs_backend.describe_file_systems(file_system_id=file_system_id)
        return file_system

    def update_file_system(self) -> _Answer:
        file_system = self._file_system()
        mode = self._get_param("ThroughputMode") or file_system.throughput_mode
        mibps = self._get_param("ProvisionedThroughputInMibps")
        if mode == "provisioned":
            mibps = mibps or file_system.provisioned_throughput_in_mibps
        _check_throughput(mode, mibps)
        file_system.throughput_mode = mode
        file_system.provisioned_throughput_in_mibps = mibps
        return json.dumps(file_system.info_json()), {"status": 202}

    def update_file_system_protection(self) -> _Answer:
        protection = self._file_system().file_system_protection  # type: ignore[attr-defined]
        if value := self._get_param("ReplicationOverwriteProtection"):
            protection["ReplicationOverwriteProtection"] = value
        return json.dumps(protection), {}

    def put_backup_policy(self) -> _Answer:
        policy = self._get_param("BackupPolicy")
        self._file_system()._backup = policy["Status"] == "ENABLED"
        return json.dumps({"BackupPolicy": policy}), {}

    def delete_file_system_policy(self) -> _Answer:
        self._file_system().file_system_policy = None
        return "", {}
