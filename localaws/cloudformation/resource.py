"""What a resource type has to say: how it is made, changed and deleted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

from moto.cloudformation.exceptions import UnformattedGetAttTemplateException
from moto.core.common_models import CloudFormationModel

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.policies import Operation

Properties = dict[str, Any]
"""A resource's properties, every intrinsic function resolved."""


class CannotUpdate(Exception):
    """This type knows no way to change these properties in place."""


class NotReadable(Exception):
    """Nothing shows what a resource of this type is like."""


class Resource(CloudFormationModel):
    """One deployed resource of a stack.

    `Ref` is its physical id, `Fn::GetAtt` its attributes. Whether a change replaces a resource is
    not its business: CloudFormation's schema says so (`localaws.cloudformation.schema`).
    """

    TYPE: ClassVar[str]
    NAME_PROPERTY: ClassVar[str] = ""
    """The property that names it; where a template leaves it out, it gets a generated name."""
    NAME_LIMIT: ClassVar[int] = 255
    """The greatest length of a generated name."""
    TAGS: ClassVar[str] = "Tags"
    """The property that takes the stack's tags too; empty where the type takes none."""
    STACK_TAG: ClassVar[Properties] = {}
    """What a tag of the stack has here, beside key and value."""

    def __init__(self, physical_id: str, **attributes: Any) -> None:
        self.physical_resource_id = physical_id
        self.attributes = attributes

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        """Make the resource.

        Args:
            aws: The services.
            name: The name given by the template, or a generated one.
            properties: As the template has them.

        Raises:
            botocore.exceptions.ClientError: The service refuses.
        """
        raise NotImplementedError

    def complete(self, aws: Aws, properties: Properties) -> None:
        """Set what its service takes in calls of their own.

        Where one of them fails, the resource is deleted: nothing half done is left.
        """

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        """Change the resource in place.

        Raises:
            CannotUpdate: It is not known how.
        """
        raise CannotUpdate(", ".join(changed(old, new)))

    def delete(self, aws: Aws) -> None:
        """Delete the resource."""
        raise NotImplementedError

    def read(self, aws: Aws) -> Properties | None:
        """Return the properties that its service shows, named as in a template.

        None where it is gone; an error that says so is as good.

        Raises:
            NotReadable: This type cannot be read.
        """
        raise NotReadable

    # What moto asks of a model.

    def get_cfn_attribute(self, name: str) -> Any:
        if name not in self.attributes:
            raise UnformattedGetAttTemplateException
        return self.attributes[name]

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        # Known once it is made; `get_cfn_attribute` refuses then.
        return True

    @staticmethod
    def cloudformation_name_type() -> str:
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        return ""

    def is_created(self) -> bool:
        return True


class ResourceWithPolicies(Resource):
    """A resource that is ready, or changed, only when its instances say so.

    A change may fail halfway; it is then taken back by another one, to what was.
    """

    def created(
        self, aws: Aws, properties: Properties, policy: Properties, operation: Operation
    ) -> None:
        """Wait until it is ready.

        Args:
            aws: The services.
            properties: As the template has them.
            policy: The resource's `CreationPolicy`.
            operation: Hears signals and tells events.

        Raises:
            localaws.cloudformation.policies.PolicyFailed: It does not become ready.
        """
        raise NotImplementedError

    def change(
        self,
        aws: Aws,
        old: Properties,
        new: Properties,
        policy: Properties,
        operation: Operation,
    ) -> None:
        """Change it in place, as its `UpdatePolicy` says.

        Raises:
            localaws.cloudformation.policies.PolicyFailed: What is new does not become ready.
        """
        raise NotImplementedError


def changed(old: Properties, new: Properties) -> list[str]:
    """Return the names of the properties that differ."""
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def only(properties: Properties, names: Iterable[str]) -> Properties:
    """Return the properties of these names that are there."""
    return {name: properties[name] for name in names if name in properties}


def camel(value: Any) -> Any:
    """Spell CloudFormation's `KeyName` as `keyName`, for the APIs that do; deep."""
    if isinstance(value, dict):
        return {key[:1].lower() + key[1:]: camel(item) for key, item in value.items()}
    if isinstance(value, list):
        return [camel(item) for item in value]
    return value
