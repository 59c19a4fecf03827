"""Tags of EC2's resources: one way to set and to change them for all types."""

from __future__ import annotations

from typing import Any

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import CannotUpdate, Properties, changed


def specification(kind: str, properties: Properties) -> dict[str, Any]:
    """Return the argument of a `create_*` call that tags a new `kind`, such as `vpc`."""
    given = properties.get("Tags")
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": given}]} if given else {}


def update(aws: Aws, physical_id: str, old: Properties, new: Properties) -> None:
    """Bring a resource's tags from one set of properties to another."""
    gone, wanted = tags.difference(old, new)
    if gone:
        aws.ec2.delete_tags(Resources=[physical_id], Tags=[{"Key": key} for key in gone])
    if wanted:
        aws.ec2.create_tags(Resources=[physical_id], Tags=wanted)


def update_only(aws: Aws, physical_id: str, old: Properties, new: Properties) -> None:
    """Change the tags of a resource that can change nothing else.

    Raises:
        CannotUpdate: Something else differs.
    """
    if others := [name for name in changed(old, new) if name != "Tags"]:
        raise CannotUpdate(", ".join(others))
    update(aws, physical_id, old, new)
