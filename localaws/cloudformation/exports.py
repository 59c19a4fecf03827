"""What stacks export to one another; what is in use can be neither changed nor taken away."""

from __future__ import annotations

from collections.abc import Iterable

from moto.cloudformation.parsing import Export

from localaws.cloudformation.deployment import ResourceFailed
from localaws.cloudformation.stack import LocalStack
from localaws.cloudformation.template import imports


class ExportInUse(ResourceFailed):
    """Another stack imports it."""


def publish(stack: LocalStack, exports: dict[str, Export], stacks: Iterable[LocalStack]) -> None:
    """Let other stacks import what one exports now, and no longer what it did before.

    Args:
        stack: The one.
        exports: Of all stacks, by name; changed in place.
        stacks: All of them.

    Raises:
        ResourceFailed: Another stack exports by that name, or imports what would change or go.
    """
    stacks = list(stacks)
    old = {
        name: export
        for name, export in exports.items()
        if export.exporting_stack_id == stack.stack_id
    }
    new = {export.name: export for export in stack.exports}
    for name, export in new.items():
        if name in exports and name not in old:
            raise ResourceFailed(f"Export with name {name} is already exported by another stack")
        if name in old and old[name].value != export.value:
            refuse_if_used(name, "updated", stacks)
    for name in old.keys() - new.keys():
        refuse_if_used(name, "deleted", stacks)
    for name in old:
        del exports[name]
    exports.update(new)


def refuse_if_used(export: str, action: str, stacks: Iterable[LocalStack]) -> None:
    """Raise where a stack imports an export that is to be updated or deleted.

    Raises:
        ExportInUse: It names the stacks.
    """
    users = [
        stack.name
        for stack in stacks
        if any(stack.resolve(name) == export for name in imports(stack.template_dict))
    ]
    if users:
        raise ExportInUse(
            f"Export {export} cannot be {action} as it is in use by {', '.join(users)}"
        )
