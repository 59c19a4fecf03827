"""How EKS's API and CloudFormation spell the same."""

from __future__ import annotations

from typing import Any


def as_map(given: list[dict[str, str]]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in given}


def as_list(given: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in given.items()]


def spelled(value: Any) -> Any:
    """Spell the API's `roleArn` as a template does, `RoleArn`; deep."""
    if isinstance(value, dict):
        return {key[:1].upper() + key[1:]: spelled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [spelled(item) for item in value]
    return value


def set_tags(eks: Any, arn: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Give a resource the tags of its new properties, a list or a map of them."""
    before, after = (
        given if isinstance(given, dict) else as_map(given)
        for given in (old.get("Tags", {}), new.get("Tags", {}))
    )
    gone = sorted(before.keys() - after.keys())
    wanted = {key: value for key, value in after.items() if before.get(key) != value}
    if gone:
        eks.untag_resource(resourceArn=arn, tagKeys=gone)
    if wanted:
        eks.tag_resource(resourceArn=arn, tags=wanted)
