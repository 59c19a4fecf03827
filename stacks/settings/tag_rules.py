"""Which tags AWS takes on everything that the stacks make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stacks.settings.text import shown
from training.outputs import JOB_TAG, PROJECT_TAG

# https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
_TAG_TEXT = re.compile(r"[\w +=.:/@-]*")
"""Letters and digits of any alphabet, as AWS takes them."""

LONGEST_TAG_KEY, LONGEST_TAG_VALUE = 128, 256
MOST_TAGS = 40
"""AWS allows 50 a resource; CDK, CloudFormation and the constructs need some."""

TAGS_ALLOWED = (
    f"at most {MOST_TAGS} tags as Name=value,Name=value or a JSON object; letters, digits, spaces "
    "and + - = . _ : / @; names of 1 to 128 characters, values of 1 to 256"
)

_SET_ELSEWHERE = {
    PROJECT_TAG: "is set by the key project",
    JOB_TAG: "is each job's own",
}


def problems_of_tags(tags: Mapping[str, str]) -> Iterator[str]:
    """Yield what AWS would refuse, and what is not the user's to set."""
    if len(tags) > MOST_TAGS:
        yield f"{len(tags)} tags are too many"
    for name, value in tags.items():
        yield from _problems_of_name(name)
        yield from _problems_of_value(name, value)
    yield from _differ_in_more_than_case(tags)


def _problems_of_name(name: str) -> Iterator[str]:
    if not name.strip() or len(name) > LONGEST_TAG_KEY:
        yield f"the tag name {shown(name)} has {len(name.strip())} characters"
    if name.lower().startswith("aws:"):
        yield f"the tag name {shown(name)} begins with aws:, which is AWS's own"
    for own, why in _SET_ELSEWHERE.items():
        if name == own:
            yield f"the tag {own} {why}"


def _problems_of_value(name: str, value: str) -> Iterator[str]:
    # CloudFormation takes no tag of a stack without a value:
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_Tag.html
    if not value.strip():
        yield f"the tag {shown(name)} has no value"
    if len(value) > LONGEST_TAG_VALUE:
        yield f"the value of tag {shown(name)} has {len(value)} characters"
    if not _TAG_TEXT.fullmatch(name) or not _TAG_TEXT.fullmatch(value):
        yield f"the tag {shown(f'{name}={value}')} has a character that AWS does not take"


def _differ_in_more_than_case(tags: Mapping[str, str]) -> Iterator[str]:
    """IAM does not tell names apart by case: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html"""
    seen = {name.lower(): name for name in _SET_ELSEWHERE}
    for name in tags:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            yield (
                f"the tag names {shown(other)} and {shown(name)} differ only in case, and IAM "
                "takes one of them"
            )
