"""What an update does to a resource's tags."""

from __future__ import annotations

from localaws.cloudformation.resource import Properties

Tag = dict[str, str]


def difference(old: Properties, new: Properties, name: str = "Tags") -> tuple[list[str], list[Tag]]:
    """Return the keys to take away and the tags to set.

    Args:
        old: The properties before.
        new: The properties after.
        name: The property that holds the tags.
    """
    before, after = old.get(name, []), new.get(name, [])
    gone = {tag["Key"] for tag in before} - {tag["Key"] for tag in after}
    return sorted(gone), [tag for tag in after if tag not in before]
