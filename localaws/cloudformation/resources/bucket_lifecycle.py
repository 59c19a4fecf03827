"""A bucket's lifecycle rules, as S3's API has them: it nests and names a few things differently."""

from __future__ import annotations

from typing import Any

from localaws.cloudformation.resource import Properties, only
from localaws.cloudformation.resources.network import is_true

_KNOWN = {
    "AbortIncompleteMultipartUpload",
    "ExpirationDate",
    "ExpirationInDays",
    "ExpiredObjectDeleteMarker",
    "Id",
    "NoncurrentVersionExpiration",
    "NoncurrentVersionExpirationInDays",
    "NoncurrentVersionTransition",
    "NoncurrentVersionTransitions",
    "ObjectSizeGreaterThan",
    "ObjectSizeLessThan",
    "Prefix",
    "Status",
    "TagFilters",
    "Transition",
    "Transitions",
}


def put(s3: Any, bucket: str, value: Properties) -> None:
    """Set the rules of a bucket.

    Raises:
        ValueError: A rule has something that is not known here.
    """
    rules = [_rule(index, rule) for index, rule in enumerate(value["Rules"])]
    s3.put_bucket_lifecycle_configuration(
        Bucket=bucket,
        LifecycleConfiguration={"Rules": rules},
        **only(value, ("TransitionDefaultMinimumObjectSize",)),
    )


def _rule(index: int, rule: Properties) -> dict[str, Any]:
    if unknown := rule.keys() - _KNOWN:
        raise ValueError(f"local AWS has no {', '.join(sorted(unknown))} of a lifecycle rule")
    parts = {
        "Expiration": _expiration(rule),
        "NoncurrentVersionExpiration": _noncurrent_expiration(rule),
        "Transitions": [_transition(item) for item in _several(rule, "Transition")],
        "NoncurrentVersionTransitions": [
            _noncurrent(item) for item in _several(rule, "NoncurrentVersionTransition")
        ],
        "AbortIncompleteMultipartUpload": _days(rule.get("AbortIncompleteMultipartUpload", {})),
    }
    return {
        "ID": rule.get("Id", f"rule-{index}"),
        "Status": rule["Status"],
        "Filter": _filter(rule),
        **{name: part for name, part in parts.items() if part},
    }


def _filter(rule: Properties) -> dict[str, Any]:
    parts: dict[str, Any] = only(rule, ("Prefix",))
    for name in ("ObjectSizeGreaterThan", "ObjectSizeLessThan"):
        if name in rule:
            parts[name] = int(rule[name])
    tags = rule.get("TagFilters", [])
    if tags and (parts or len(tags) > 1):
        return {"And": {**parts, "Tags": tags}}
    if tags:
        return {"Tag": tags[0]}
    if len(parts) > 1:
        return {"And": parts}
    return parts or {"Prefix": ""}


def _expiration(rule: Properties) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if "ExpirationInDays" in rule:
        result["Days"] = int(rule["ExpirationInDays"])
    if "ExpirationDate" in rule:
        result["Date"] = rule["ExpirationDate"]
    if "ExpiredObjectDeleteMarker" in rule:
        result["ExpiredObjectDeleteMarker"] = is_true(rule["ExpiredObjectDeleteMarker"])
    return result


def _noncurrent_expiration(rule: Properties) -> dict[str, int]:
    if "NoncurrentVersionExpirationInDays" in rule:
        return {"NoncurrentDays": int(rule["NoncurrentVersionExpirationInDays"])}
    return _days(rule.get("NoncurrentVersionExpiration", {}))


def _days(value: Properties) -> dict[str, int]:
    return {name: int(number) for name, number in value.items()}


def _several(rule: Properties, name: str) -> list[Properties]:
    """Return what a rule has under the new plural name and the old singular one."""
    return [*rule.get(f"{name}s", []), *([rule[name]] if name in rule else [])]


def _transition(item: Properties) -> dict[str, Any]:
    when = (
        {"Date": item["TransitionDate"]}
        if "TransitionDate" in item
        else {"Days": int(item["TransitionInDays"])}
    )
    return {"StorageClass": item["StorageClass"], **when}


def _noncurrent(item: Properties) -> dict[str, Any]:
    result = {
        "StorageClass": item["StorageClass"],
        "NoncurrentDays": int(item["TransitionInDays"]),
    }
    if "NewerNoncurrentVersions" in item:
        result["NewerNoncurrentVersions"] = int(item["NewerNoncurrentVersions"])
    return result
