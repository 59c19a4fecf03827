"""AWS DataSync: locations, tasks and their executions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask, ask_all

_GONE = ("is not found", "not found", "does not exist")


class DataSync:
    """The transfers of one account and region.

    Args:
        making: A client that sends each request once.
        looking: One that asks again where no answer came.
    """

    def __init__(self, making: Any, looking: Any) -> None:
        self._making = making
        self._client = looking

    def create_location(self, kind: str, request: Mapping[str, Any]) -> str:
        """Make a location of a kind, `s3`, `efs` or `fsx_lustre`; return its ARN."""
        if kind == "s3":
            made = ask(self._making, "create_location_s3", **request)
        elif kind == "efs":
            made = ask(self._making, "create_location_efs", **request)
        else:
            made = ask(self._making, "create_location_fsx_lustre", **request)
        return str(made["LocationArn"])

    def create_task(self, request: Mapping[str, Any]) -> str:
        """Make a task; return its ARN."""
        return str(ask(self._making, "create_task", **request)["TaskArn"])

    def task_named(self, name: str) -> str | None:
        """Return the ARN of the task of a name; None where there is none."""
        tasks = ask_all(self._client, "list_tasks", "Tasks")
        return next((str(each["TaskArn"]) for each in tasks if each.get("Name") == name), None)

    def task(self, arn: str) -> dict[str, Any] | None:
        """Return a task's description; None where it is gone."""
        return self._description("describe_task", TaskArn=arn)

    def _description(self, operation: str, **request: str) -> dict[str, Any] | None:
        try:
            return dict(ask(self._client, operation, **request))
        except AwsRefused as error:
            if _is_gone(error):
                return None
            raise

    def start(self, task_arn: str) -> str:
        """Start a task; return the execution's ARN."""
        found = ask(self._making, "start_task_execution", TaskArn=task_arn)
        return str(found["TaskExecutionArn"])

    def execution(self, arn: str) -> dict[str, Any] | None:
        """Return how an execution stands; None where it went with its task."""
        return self._description("describe_task_execution", TaskExecutionArn=arn)

    def delete_task(self, arn: str) -> None:
        """Delete a task; one that is gone is no error."""
        self._delete("delete_task", TaskArn=arn)

    def delete_location(self, arn: str) -> None:
        """Delete a location; one that is gone is no error."""
        self._delete("delete_location", LocationArn=arn)

    def _delete(self, operation: str, **request: str) -> None:
        try:
            ask(self._client, operation, **request)
        except AwsRefused as error:
            if not _is_gone(error):
                raise


def _is_gone(error: AwsRefused) -> bool:
    # DataSync has one code for what is wrong in a request, and the words tell what:
    # https://docs.aws.amazon.com/datasync/latest/userguide/API_DescribeTask.html
    return error.code == "InvalidRequestException" and any(word in str(error) for word in _GONE)
