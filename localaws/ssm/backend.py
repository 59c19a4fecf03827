"""Systems Manager's state in one region."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, cast

import yaml
from moto.ec2.models import ec2_backends
from moto.ssm.exceptions import SSMException
from moto.ssm.models import Command

from localaws.hosts import fleet
from localaws.hosts.role_credentials import role_of
from localaws.machine_images import ParameterBackend
from localaws.ssm import agent, document
from localaws.ssm.command import RunCommand

_AGENT = "3.3.3050.0"
"""A version of Systems Manager's agent; any would do."""


class CommandBackend(ParameterBackend):
    """Parameters, documents, and commands that run on hosts, where hosts are switched on."""

    def send_command(self, **request: Any) -> Command:  # type: ignore[override]
        hosts = fleet.current()
        if hosts is None:
            return super().send_command(**request)
        content = self._content(request["document_name"])
        script = document.script(content, request.pop("parameters") or {})
        managed = self.managed()
        for instance_id in request["instance_ids"]:
            if instance_id not in managed:
                raise SSMException(
                    "InvalidInstanceId", f"Instances [{instance_id}] not in a valid state"
                )
        targets = request.pop("targets") or []
        chosen = request.pop("instance_ids") or self._targeted(targets, managed)
        arguments = {"account_id": self.account_id, "backend_region": self.region_name}
        command = RunCommand(chosen, targets, **request, **arguments)
        self._commands.append(command)
        for instance_id in command.instance_ids:
            agent.start(hosts.find(instance_id), command, managed[instance_id], script)
        return command

    def _content(self, name: str) -> dict[str, Any]:
        if name == "AWS-RunShellScript":
            return document.RUN_SHELL_SCRIPT
        found = self._get_documents(name).find(None, None)
        if found.document_format == "YAML":
            return cast(dict[str, Any], yaml.safe_load(found.content))
        return cast(dict[str, Any], json.loads(found.content))

    def managed(self) -> dict[str, Any]:
        """Return the instances on which an agent runs, by id: it needs a role to register."""
        hosts = fleet.current()
        return {
            id_: instance
            for id_, instance in (hosts.instances() if hosts else {}).items()
            if instance.ec2_backend is ec2_backends[self.account_id][self.region_name]
            and role_of(instance) is not None
        }

    @staticmethod
    def _targeted(targets: list[dict[str, Any]], managed: dict[str, Any]) -> list[str]:
        chosen = []
        for instance_id, instance in managed.items():
            tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
            if all(_matches(target, instance_id, tags) for target in targets):
                chosen.append(instance_id)
        return chosen

    def cancel_command(self, command_id: str, instance_ids: list[str]) -> None:
        """Ask a command to end, on all its nodes or some."""
        command = self.get_command_by_id(command_id)
        hosts = fleet.current()
        if not isinstance(command, RunCommand) or hosts is None:
            return
        for instance_id in instance_ids or command.instance_ids:
            agent.cancel(hosts.find(instance_id), command, instance_id)

    def invocations(
        self, command_id: str | None, instance_id: str | None, *, details: bool
    ) -> list[dict[str, Any]]:
        """Return commands on nodes, as ListCommandInvocations shows them."""
        commands = self.list_commands(command_id, instance_id)
        found = [
            each
            for command in commands
            if isinstance(command, RunCommand)
            for each in command.listed(details=details)
        ]
        return [each for each in found if instance_id in (None, each["InstanceId"])]

    def instance_information(self, filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the managed nodes, as DescribeInstanceInformation shows them."""
        found = []
        for instance_id, instance in self.managed().items():
            tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
            shown = {
                "InstanceId": instance_id,
                "PingStatus": "Online",
                "LastPingDateTime": datetime.now(UTC),
                "AgentVersion": _AGENT,
                "IsLatestVersion": True,
                "PlatformType": "Linux",
                "ResourceType": "EC2Instance",
                "IPAddress": instance.private_ip,
                "ComputerName": instance.private_dns_name,
            }
            if all(_passes(each, shown, tags) for each in filters):
                found.append(shown)
        return found


def _matches(target: dict[str, Any], instance_id: str, tags: dict[str, str]) -> bool:
    key, values = target["Key"], target["Values"]
    if key == "InstanceIds":
        return instance_id in values
    if key.startswith("tag:"):
        return tags.get(key.removeprefix("tag:")) in values
    raise SSMException("InvalidTarget", f"Local AWS has no target {key}")


def _passes(wanted: dict[str, Any], shown: dict[str, Any], tags: dict[str, str]) -> bool:
    if wanted["Key"].startswith("tag:"):
        return tags.get(wanted["Key"].removeprefix("tag:")) in wanted["Values"]
    name = wanted["Key"].removesuffix("s")
    if name not in shown:
        raise SSMException("InvalidFilterKey", f"Local AWS has no filter {wanted['Key']}")
    return str(shown[name]) in wanted["Values"]
