"""FSx's state: file systems, associations and tasks of one region."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

from moto.ec2.models import ec2_backends
from moto.fsx import urls
from moto.fsx.models import FSxBackend
from moto.s3.exceptions import MissingBucket

from localaws import file_systems
from localaws.fsx.association import Association
from localaws.fsx.errors import (
    AssociationNotFound,
    BadRequest,
    FileSystemNotFound,
    TaskEnded,
    TaskExecuting,
    TaskNotFound,
)
from localaws.fsx.file_system import SCRATCH, LustreFileSystem
from localaws.fsx.repository import Repository
from localaws.fsx.repository import backend as s3_backend
from localaws.fsx.tasks import IMPORT, KINDS, Task


class LustreBackend(FSxBackend):
    """The file systems of one region, each a folder."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.associations: dict[str, Association] = {}
        self.tasks: dict[str, Task] = {}

    @property
    def _url_module(self) -> ModuleType:
        return urls

    @property
    def _arn_prefix(self) -> str:
        return f"arn:{self.partition}:fsx:{self.region_name}:{self.account_id}"

    def file_system(self, file_system_id: str) -> LustreFileSystem:
        """Return a file system.

        Raises:
            FileSystemNotFound: There is none with this id.
        """
        if file_system_id not in self.file_systems:
            raise FileSystemNotFound(file_system_id)
        found = self.file_systems[file_system_id]
        assert isinstance(found, LustreFileSystem)
        return found

    def make_file_system(self, request: dict[str, Any]) -> LustreFileSystem:
        """Make a file system, its folder and, with ImportPath, the files in it."""
        if request.get("FileSystemType") != "LUSTRE":
            raise BadRequest("Local AWS has FSx for Lustre only: FileSystemType must be LUSTRE")
        configuration = request.get("LustreConfiguration") or {}
        _check_combination(request, configuration)
        made = LustreFileSystem(
            account_id=self.account_id,
            region_name=self.region_name,
            file_system_type="LUSTRE",
            storage_capacity=request.get("StorageCapacity", 1200),
            storage_type=request.get("StorageType", "SSD"),
            subnet_ids=request.get("SubnetIds", []),
            security_group_ids=request.get("SecurityGroupIds", []),
            tags=None,
            kms_key_id=request.get("KmsKeyId"),
            windows_configuration=None,
            lustre_configuration=configuration,
            ontap_configuration=None,
            open_zfs_configuration=None,
            backend=self,
        )
        made.version = request.get("FileSystemTypeVersion", made.version)
        imported = self._import_path(made)
        self.tagger.tag_resource(made.resource_arn, request.get("Tags") or [])
        made.network_interface_ids = list(self._join_network(made, request))
        self.file_systems[made.file_system_id] = made
        file_systems.make(made.file_system_id)
        if imported:
            _import_all(imported)
        return made

    def _join_network(self, made: LustreFileSystem, request: dict[str, Any]) -> Iterator[str]:
        """Yield a network interface for each subnet that EC2 knows; while it is there, EC2 deletes
        neither the subnet nor its security groups."""
        for subnet_id in request.get("SubnetIds", []):
            if self._ec2.describe_subnets(filters={"subnet-id": subnet_id}):
                interface = self._ec2.create_network_interface(
                    subnet_id,
                    [],
                    group_ids=request.get("SecurityGroupIds", []),
                    description=f"Created by FSx for {made.file_system_id}",
                )
                yield str(interface.id)

    @property
    def _ec2(self) -> Any:
        return ec2_backends[self.account_id][self.region_name]

    def _import_path(self, file_system: LustreFileSystem) -> Repository | None:
        path = (file_system.lustre_configuration or {}).get("ImportPath")
        if not path:
            return None
        # The root stands for the root of the bucket: a prefix is a folder of that name.
        folder = "/" + path.removeprefix("s3://").partition("/")[2].strip("/")
        return self._repository(file_system.file_system_id, folder, path)

    def _repository(self, file_system_id: str, path: str, s3_path: str) -> Repository:
        try:
            repository = Repository.parse(file_system_id, path, s3_path)
            s3_backend().get_bucket(repository.bucket)
        except ValueError as error:
            raise BadRequest(str(error)) from error
        except MissingBucket as error:
            raise BadRequest(f"{s3_path}: the bucket does not exist") from error
        return repository

    def change_file_system(self, request: dict[str, Any]) -> LustreFileSystem:
        """Change what FSx can change in place."""
        found = self.file_system(request["FileSystemId"])
        capacity = request.get("StorageCapacity", found.storage_capacity)
        if capacity < found.storage_capacity:
            raise BadRequest(
                f"StorageCapacity {capacity}: cannot be less than the {found.storage_capacity} "
                "GiB that the file system has"
            )
        found.storage_capacity = capacity
        found.version = request.get("FileSystemTypeVersion", found.version)
        found.lustre_configuration = {
            **(found.lustre_configuration or {}),
            **_merged(found.lustre_configuration or {}, request.get("LustreConfiguration", {})),
        }
        return found

    def unmake_file_system(self, file_system_id: str) -> None:
        """Delete a file system with its content, its associations and its tags."""
        found = self.file_system(file_system_id)
        if self._is_busy(file_system_id):
            raise BadRequest(f"A data repository task of {file_system_id} has not ended")
        for association in list(self.associations_of(file_system_id)):
            del self.associations[association.association_id]
        for interface_id in found.network_interface_ids:
            self._ec2.delete_network_interface(interface_id)
        del self.file_systems[file_system_id]
        self.tagger.delete_all_tags_for_resource(found.resource_arn)
        file_systems.remove(file_system_id)

    def associations_of(self, file_system_id: str) -> Iterator[Association]:
        for association in self.associations.values():
            if association.repository.file_system_id == file_system_id:
                yield association

    def repositories_of(self, file_system_id: str, kind: str) -> list[Repository]:
        """Return every link that a type of task works over: associations, or ImportPath.

        With ImportPath, an import knows the part of the bucket that it names; exports have a path
        of their own, which stands for the root of the file system.
        """
        file_system = self.file_system(file_system_id)
        linked = [each.repository for each in self.associations_of(file_system_id)]
        imported = self._import_path(file_system)
        if imported is None:
            return linked
        if kind == IMPORT:
            return [imported]
        return [self._repository(file_system_id, "/", str(file_system.export_path))]

    def associate(self, request: dict[str, Any]) -> Association:
        """Link a folder to a bucket and, if asked, import what the bucket has."""
        file_system = self.file_system(request["FileSystemId"])
        if file_system.deployment_type == "SCRATCH_1":
            raise BadRequest("SCRATCH_1 takes no data repository association")
        if self._import_path(file_system):
            raise BadRequest("A file system with ImportPath takes no data repository association")
        path = request.get("FileSystemPath") or "/"
        if not path.startswith("/") or ".." in path.split("/"):
            raise BadRequest(f"FileSystemPath {path}: must be absolute, without ..")
        s3_path = request["DataRepositoryPath"]
        repository = self._repository(file_system.file_system_id, path, s3_path)
        for other in self.associations_of(file_system.file_system_id):
            if repository.overlaps(other.repository):
                raise BadRequest(
                    f"FileSystemPath {path} overlaps {other.repository.path}, which is linked by "
                    f"{other.association_id}"
                )
            if repository.shares_objects_with(other.repository):
                raise BadRequest(
                    f"DataRepositoryPath {s3_path} overlaps {other.s3_path}, which is linked by "
                    f"{other.association_id}"
                )
        made = Association(
            repository,
            s3_path,
            self._arn_prefix,
            bool(request.get("BatchImportMetaDataOnCreate", False)),
            int(request.get("ImportedFileChunkSize", 1024)),
            request.get("S3") or {},
        )
        self.associations[made.association_id] = made
        self.tagger.tag_resource(made.arn, request.get("Tags") or [])
        repository.folder.mkdir(parents=True, exist_ok=True)
        if made.batch_import:
            _import_all(repository)
        return made

    def association(self, association_id: str) -> Association:
        """Return an association.

        Raises:
            AssociationNotFound: There is none with this id.
        """
        if association_id not in self.associations:
            raise AssociationNotFound(association_id)
        return self.associations[association_id]

    def run_task(self, request: dict[str, Any]) -> Task:
        """Start an import, export or release."""
        kind, file_system_id = request["Type"], request["FileSystemId"]
        if kind not in KINDS:
            raise BadRequest(f"Type {kind}: a file system takes {', '.join(KINDS)}")
        if request["Report"].get("Enabled"):
            raise BadRequest("Local AWS writes no report: Report.Enabled must be false")
        repositories = self.repositories_of(file_system_id, kind)
        if not repositories:
            raise BadRequest(f"File system {file_system_id} has no data repository")
        if self._is_busy(file_system_id):
            raise TaskExecuting(file_system_id)
        task = Task(request, self._arn_prefix)
        self.tasks[task.task_id] = task
        self.tagger.tag_resource(task.arn, request.get("Tags") or [])
        task.start(repositories)
        return task

    def _is_busy(self, file_system_id: str) -> bool:
        tasks = [task for task in self.tasks.values() if task.file_system_id == file_system_id]
        return any(not task.has_ended for task in tasks)

    def task(self, task_id: str) -> Task:
        """Return a task.

        Raises:
            TaskNotFound: There is none with this id.
        """
        if task_id not in self.tasks:
            raise TaskNotFound(task_id)
        return self.tasks[task_id]

    def cancel_task(self, task_id: str) -> Task:
        task = self.task(task_id)
        if task.has_ended:
            raise TaskEnded(task_id)
        task.cancel()
        return task


def _check_combination(request: dict[str, Any], configuration: dict[str, Any]) -> None:
    deployment_type = configuration.get("DeploymentType", "SCRATCH_1")
    if deployment_type in SCRATCH and request.get("KmsKeyId"):
        raise BadRequest("A scratch file system takes no KmsKeyId: its keys are FSx's own")
    if deployment_type in SCRATCH and "PerUnitStorageThroughput" in configuration:
        raise BadRequest("PerUnitStorageThroughput is for persistent deployment types")
    if deployment_type == "PERSISTENT_2":
        if "ImportPath" in configuration:
            raise BadRequest("PERSISTENT_2 takes data repository associations, no ImportPath")
        return
    if configuration.get("EfaEnabled"):
        raise BadRequest("EfaEnabled is for PERSISTENT_2")
    if "MetadataConfiguration" in configuration:
        raise BadRequest("MetadataConfiguration is for PERSISTENT_2")


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the new settings; a group of settings keeps those that are not named."""
    return {
        name: {**old.get(name, {}), **value} if isinstance(value, dict) else value
        for name, value in new.items()
    }


def _import_all(repository: Repository) -> None:
    for key, value in repository.objects():
        try:
            repository.import_object(key, value)
        except (OSError, ValueError):
            # FSx leaves out what cannot be a file, and so does this: `a` beside `a/b`, or `..`.
            continue
