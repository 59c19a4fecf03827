"""Systems Manager's operations, with those of Run Command that moto lacks."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ssm.responses import SimpleSystemManagerResponse

from localaws.ssm.backend import CommandBackend


class CommandResponse(SimpleSystemManagerResponse):
    """Systems Manager's operations."""

    @property
    def _backend(self) -> CommandBackend:
        backend = self.ssm_backend
        assert isinstance(backend, CommandBackend)
        return backend

    def list_command_invocations(self) -> ActionResult:
        found = self._backend.invocations(
            self._get_param("CommandId"),
            self._get_param("InstanceId"),
            details=bool(self._get_param("Details")),
        )
        return ActionResult({"CommandInvocations": found})

    def cancel_command(self) -> ActionResult:
        self._backend.cancel_command(
            self._get_param("CommandId"), self._get_param("InstanceIds", [])
        )
        return ActionResult({})

    def describe_instance_information(self) -> ActionResult:
        filters = self._get_param("Filters", [])
        return ActionResult(
            {"InstanceInformationList": self._backend.instance_information(filters)}
        )
