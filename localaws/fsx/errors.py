"""FSx's errors, named as its API names them."""

from __future__ import annotations

from moto.core.exceptions import JsonRESTError


class BadRequest(JsonRESTError):
    def __init__(self, message: str) -> None:
        super().__init__("BadRequest", message)


class FileSystemNotFound(JsonRESTError):
    def __init__(self, file_system_id: str) -> None:
        super().__init__("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")


class AssociationNotFound(JsonRESTError):
    def __init__(self, association_id: str) -> None:
        super().__init__(
            "DataRepositoryAssociationNotFound",
            f"Data repository association '{association_id}' does not exist.",
        )


class TaskNotFound(JsonRESTError):
    def __init__(self, task_id: str) -> None:
        super().__init__(
            "DataRepositoryTaskNotFound", f"Data repository task '{task_id}' does not exist."
        )


class TaskEnded(JsonRESTError):
    def __init__(self, task_id: str) -> None:
        super().__init__(
            "DataRepositoryTaskEnded", f"Data repository task '{task_id}' has already ended."
        )


class TaskExecuting(JsonRESTError):
    def __init__(self, file_system_id: str) -> None:
        super().__init__(
            "DataRepositoryTaskExecuting",
            f"A data repository task of file system '{file_system_id}' has not ended.",
        )
