"""What can be said about a template before anything is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

from moto.cloudformation.exceptions import ValidationError

Template = dict[str, Any]

_SUBSTITUTION = re.compile(r"\$\{([^!}][^}]*)\}")
"""`${Name}` or `${Name.Attribute}` in an Fn::Sub; `${!Literal}` is none."""


def check_types(template: Template, is_known: Callable[[str], bool]) -> None:
    """Refuse a template with resource types that local AWS cannot make.

    Raises:
        ValidationError: Names each resource and its type.
    """
    unknown = [
        f"{logical_id} ({resource.get('Type')})"
        for logical_id, resource in template.get("Resources", {}).items()
        if not is_known(str(resource.get("Type")))
    ]
    if unknown:
        raise ValidationError(
            message=f"Template format error: local AWS does not have the type of "
            f"{', '.join(unknown)}. Add it in localaws/cloudformation/resources, or deploy this "
            "stack to AWS"
        )


def creation_order(template: Template) -> list[str]:
    """Return the logical ids, each after those that it refers to.

    Raises:
        ValidationError: Resources refer to each other in a circle, or to none that is there.
    """
    resources = template["Resources"]
    known = resources.keys() | template.get("Parameters", {}).keys()
    graph: dict[str, list[str]] = {}
    for logical_id, resource in resources.items():
        references = set(_references(resource))
        if missing := [name for name in references - known if "::" not in name]:
            raise ValidationError(
                message="Template format error: Unresolved resource dependencies "
                f"[{', '.join(sorted(missing))}] in the Resources block of the template "
                f"({logical_id})"
            )
        graph[logical_id] = sorted(references & resources.keys())
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = ", ".join(error.args[1][:-1])
        raise ValidationError(
            message=f"Circular dependency between resources: [{circle}]"
        ) from error


def _references(resource: dict[str, Any]) -> Iterator[str]:
    depends_on = resource.get("DependsOn", [])
    yield from [depends_on] if isinstance(depends_on, str) else depends_on
    yield from _intrinsic_references(resource.get("Properties", {}))


def _intrinsic_references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _intrinsic_references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "Ref" and isinstance(item, str):
                yield item
            elif key == "Fn::GetAtt":
                yield item[0] if isinstance(item, list) else item.split(".")[0]
            elif key == "Fn::Sub":
                yield from _substitutions(item)
            else:
                yield from _intrinsic_references(item)


def _substitutions(value: Any) -> Iterator[str]:
    text, local = (value, {}) if isinstance(value, str) else value
    for name in _SUBSTITUTION.findall(text):
        if name not in local:
            yield name.split(".")[0]
    yield from _intrinsic_references(local)


def imports(value: Any) -> Iterator[Any]:
    """Yield the (unresolved) names of the exports that a template imports."""
    if isinstance(value, list):
        for item in value:
            yield from imports(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "Fn::ImportValue":
                yield item
            else:
                yield from imports(item)
