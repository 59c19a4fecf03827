"""A stack: its template, what it has made, and its outputs."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.models import Event, Stack, cloudformation_backends
from moto.cloudformation.parsing import Export, ResourceMap
from moto.core.utils import utcnow

from localaws.cloudformation import secret_references, stack_outputs
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties
from localaws.cloudformation.template import Template


@dataclass
class Deployed:
    """One resource that a stack has made."""

    logical_id: str
    type: str
    resource: Any
    """A `Resource`, or an object of moto's own model of that type."""
    properties: Properties
    """As they were when it was made or last changed."""
    definition: dict[str, Any]
    """The resource's part of the template."""

    @property
    def physical_id(self) -> str:
        return str(getattr(self.resource, "physical_resource_id", self.logical_id))

    @property
    def is_retained(self) -> bool:
        return str(self.definition.get("DeletionPolicy", "Delete")).startswith("Retain")

    @property
    def is_retained_on_replacement(self) -> bool:
        return bool(self.definition.get("UpdateReplacePolicy") == "Retain")


class LocalStack(Stack):
    """moto's stack, with a record of what was made from what."""

    def __init__(self, **arguments: Any) -> None:
        self.deployed: dict[str, Deployed] = {}
        self._outputs: list[dict[str, Any]] = []
        self.status_reason: str | None = None
        self.drifts: list[dict[str, Any]] = []
        """What the last look for drift found."""
        super().__init__(**arguments)

    @property
    def aws(self) -> Aws:
        return Aws(self.region_name)

    def _create_resource_map(self) -> ResourceMap:
        made = super()._create_resource_map()
        # moto knows one partition.
        made._parsed_resources["AWS::Partition"] = self.aws.partition
        made._parsed_resources["AWS::URLSuffix"] = self.aws.url_suffix
        return made

    def _parse_template(self) -> None:
        template = self.parse_template(str(self.template))
        self.template_dict = _with_zones(template, self.arn_region)

    @property
    def arn_region(self) -> str:
        # moto parses the template before it knows the region.
        return self.stack_id.split(":")[3]

    @staticmethod
    def parse_template(template: str) -> Template:
        """Parse JSON or YAML; JSON first, since YAML takes seconds for a large stack."""
        try:
            parsed: Template = json.loads(template)
        except ValueError:
            parsed = _without_dates(Stack.parse_template(template))
        return parsed

    def use(self, template: str, parameters: dict[str, str]) -> None:
        """Take up a template, with the resources made so far in place.

        Raises:
            ValidationError: The template or the parameters are wrong.
        """
        self.template = template
        self._parse_template()
        self.description = self.template_dict.get("Description")
        self.parameters = _with_defaults(self.template_dict, parameters)
        self.resource_map = self._create_resource_map()
        for deployed in self.deployed.values():
            self.put(deployed)

    def remember(self) -> Callable[[], None]:
        """Return what puts the template, parameters, tags and outputs back as they are now."""
        template, parameters = str(self.template), self.parameters
        tags, outputs = self.tags, self._outputs

        def take_back() -> None:
            self.use(template, parameters)
            # Not worked out again: a stack that an output was read from may be gone.
            self.tags, self._outputs = tags, outputs

        return take_back

    def put(self, deployed: Deployed) -> None:
        """Record a resource; `Ref` and `Fn::GetAtt` find it from now on."""
        deployed.resource.logical_resource_id = deployed.logical_id
        deployed.resource.cf_resource_type = deployed.type
        self.deployed[deployed.logical_id] = deployed
        self.resource_map._parsed_resources[deployed.logical_id] = deployed.resource

    def forget(self, logical_id: str) -> None:
        self.deployed.pop(logical_id, None)
        self.resource_map._parsed_resources.pop(logical_id, None)

    def has(self, definition: dict[str, Any]) -> bool:
        """Return whether a resource's or an output's condition, if any, holds."""
        condition = definition.get("Condition")
        return condition is None or bool(self.resource_map.lazy_condition_map[condition])

    def resolve(self, value: Any) -> Any:
        """Return a value of the template with every intrinsic function resolved.

        Raises:
            ValueError: An intrinsic function is not known here, or has nothing to return.
        """
        with_outputs = stack_outputs.with_outputs(
            value, self.resource_map.lazy_condition_map, self._read_output
        )
        try:
            resolved = _without_none(parsing.clean_json(with_outputs, self.resource_map))
        except IndexError as error:
            raise ValueError(
                "Fn::Select asks for more than its list has, such as the third zone of a region "
                "with two"
            ) from error
        _check_resolved(resolved)
        return secret_references.with_secrets(resolved, self._read_secret)

    def _read_secret(self, secret: str) -> str:
        found = self.aws.client("secretsmanager").get_secret_value(SecretId=secret)
        return str(found["SecretString"])

    def _read_output(self, arguments: Mapping[str, Any]) -> str:
        """Return what `Fn::GetStackOutput` says; there is one account, so a role plays no part."""
        resolved = parsing.clean_json(dict(arguments), self.resource_map)
        region = resolved.get("Region") or self.region_name
        stacks = list(cloudformation_backends[self.account_id][region].stacks.values())
        return stack_outputs.output_of(
            stacks, resolved["StackName"], resolved["OutputName"], region
        )

    def resolve_outputs(self) -> None:
        """Work out the outputs from the resources."""
        self._outputs = [
            {
                "OutputKey": key,
                "OutputValue": self.resolve(output["Value"]),
                "Description": output.get("Description"),
                "ExportName": self.resolve(output["Export"]["Name"])
                if "Export" in output
                else None,
            }
            for key, output in (self.template_dict.get("Outputs") or {}).items()
            if self.has(output)
        ]

    # What moto's models must have, and what its responses read.

    @staticmethod
    def cloudformation_name_type() -> str:
        return ""

    def is_created(self) -> bool:
        return self.status.endswith("_COMPLETE")

    @property
    def stack_parameters(self) -> dict[str, Any]:
        # As given: moto has what a parameter of SSM resolves to, and would resolve that once more
        # when the client asks for the previous value.
        return self.parameters

    @property
    def parameter_list(self) -> list[dict[str, Any]]:
        return [
            {
                "ParameterKey": key,
                "ParameterValue": value,
                "ResolvedValue": resolved if resolved != value else None,
            }
            for key, value in self.parameters.items()
            if (resolved := self.resource_map.resolved_parameters[key]) is not None
        ]

    def has_template(self, other_template: str) -> bool:
        # As given: in `template_dict` the zones are resolved.
        mine, other = (self.parse_template(text) for text in (str(self.template), other_template))
        return _without_remarks(mine) == _without_remarks(other) and not self._is_behind()

    def _is_behind(self) -> bool:
        """Return whether another stack's outputs, read by this one, are others by now."""
        return any(
            self.resolve(deployed.definition.get("Properties", {})) != deployed.properties
            for deployed in self.deployed.values()
            if "Fn::GetStackOutput" in json.dumps(deployed.definition, default=str)
        )

    def has_parameters(self, other_parameters: dict[str, Any]) -> bool:
        if self.parameters != _with_defaults(self.template_dict, other_parameters):
            return False
        # Those of Systems Manager may lead to something else by now, such as a newer AMI.
        now = self._create_resource_map().resolved_parameters
        return bool(now == self.resource_map.resolved_parameters)

    @property
    def outputs(self) -> list[dict[str, Any]] | None:
        return self._outputs or None

    @property
    def exports(self) -> list[Export]:
        return [
            Export(self.stack_id, output["ExportName"], output["OutputValue"])
            for output in self._outputs
            if output["ExportName"]
        ]

    @property
    def stack_resources(self) -> Any:
        return [deployed.resource for deployed in self.deployed.values()]

    @property
    def stack_status_reason(self) -> str | None:
        return self.status_reason

    def set_status(self, status: str, reason: str | None = None) -> None:
        self.status = status
        self.status_reason = reason
        self.last_updated_time = utcnow()
        self._add_stack_event(status, resource_status_reason=reason)

    def add_resource_event(
        self,
        logical_id: str,
        resource_type: str,
        status: str,
        physical_id: str = "",
        reason: str | None = None,
    ) -> None:
        self.events.append(
            Event(
                stack_id=self.stack_id,
                stack_name=self.name,
                logical_resource_id=logical_id,
                physical_resource_id=physical_id,
                resource_type=resource_type,
                resource_status=status,
                resource_status_reason=reason,
                resource_properties=None,
            )
        )


def _with_defaults(template: Template, given: dict[str, str]) -> dict[str, str]:
    """Return a template's parameters: those given, and the defaults of the others."""
    defaults = {
        name: parameter["Default"]
        for name, parameter in template.get("Parameters", {}).items()
        if "Default" in parameter
    }
    return {**defaults, **given}


def _without_remarks(template: Template) -> Template:
    """Leave out what CloudFormation takes for no change by itself.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/metadata-section-structure.html
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-description-structure.html
    """
    return {key: part for key, part in template.items() if key not in ("Metadata", "Description")}


def _with_zones(value: Any, region: str) -> Any:
    """Resolve `Fn::GetAZs`: moto's takes no `Ref` and makes up four zones for every region."""
    if isinstance(value, list):
        return [_with_zones(item, region) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"Fn::GetAZs"}:
        of = value["Fn::GetAZs"]
        zones = Aws(of if isinstance(of, str) and of else region).ec2.describe_availability_zones()
        return sorted(zone["ZoneName"] for zone in zones["AvailabilityZones"])
    return {key: _with_zones(item, region) for key, item in value.items()}


def _without_dates(value: Any) -> Any:
    """Undo YAML's reading of a policy's `Version: 2012-10-17` as a date."""
    if isinstance(value, dict):
        return {key: _without_dates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_dates(item) for item in value]
    return value.isoformat() if isinstance(value, datetime.date) else value


def _without_none(value: Any) -> Any:
    """Drop list elements that are `AWS::NoValue`; moto drops only keys."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_none(item) for item in value if item is not None]
    return value


def _check_resolved(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _check_resolved(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key.startswith("Fn::"):
                raise ValueError(f"local AWS cannot resolve {json.dumps({key: item}, default=str)}")
            _check_resolved(item)
