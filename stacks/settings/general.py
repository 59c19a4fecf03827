"""Settings that hold for every stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from stacks.settings.group import Pairs, SettingsGroup, checked_by, none_if_empty
from training.outputs import JOB_TAG, PROJECT_TAG

# https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
_TAG_TEXT = re.compile(r"[\w\s+=.:/@-]*")
LONGEST_TAG_KEY, LONGEST_TAG_VALUE = 128, 256
MOST_TAGS = 40
"""AWS allows 50 a resource; CDK, CloudFormation and the constructs need some."""


def _problems_of_tags(tags: dict[str, str]) -> Iterator[str]:
    if len(tags) > MOST_TAGS:
        yield f"{len(tags)} tags are too many"
    for key, value in tags.items():
        if not key or len(key) > LONGEST_TAG_KEY:
            yield f"the tag name {key!r} has {len(key)} characters"
        if len(value) > LONGEST_TAG_VALUE:
            yield f"the value of tag {key} has {len(value)} characters"
        if not _TAG_TEXT.fullmatch(key) or not _TAG_TEXT.fullmatch(value):
            yield f"the tag {key}={value} has a character that AWS does not take"
        if key.lower().startswith("aws:"):
            yield f"the tag name {key} begins with aws:, which is AWS's own"
        if key == PROJECT_TAG:
            yield f"the tag {PROJECT_TAG} is set by the key project"
        if key == JOB_TAG:
            yield f"the tag {JOB_TAG} is each job's own"


class GeneralSettings(SettingsGroup):
    """Account, region, tags, protection and the bounds of every role."""

    aws_account: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None, pattern=r"^\d{12}$", description="an account id of 12 digits"
    )
    """Without it: the account whose credentials deploy."""

    aws_region: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=r"^[a-z]{2,3}(-[a-z]+)+-\d$",
        description="the name of a region, such as us-west-2",
    )
    """Without it: the region of the profile that deploys."""

    project: str = Field(
        default="distributed-mask-rcnn",
        pattern=r"^[A-Za-z][A-Za-z0-9-]{0,62}$",
        description="1 to 63 letters, digits and hyphens, a letter first",
    )
    """The value of the cost allocation tag `Project` on everything that the stacks make."""

    tags: Annotated[Pairs, AfterValidator(checked_by(_problems_of_tags))] = Field(
        default={},
        description=f"at most {MOST_TAGS} tags as Name=value,Name=value or a JSON object; letters, "
        "digits, spaces and + - = . _ : / @; names of 1 to 128 characters, values of up to 256",
    )
    """More tags on everything."""

    termination_protection: bool = Field(default=False, description="true or false")
    """Whether AWS refuses to delete the stacks until that is switched off."""

    permissions_boundary: Annotated[str | None, BeforeValidator(none_if_empty)] = Field(
        default=None,
        pattern=r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+$",
        description="the ARN of an IAM policy, such as arn:aws:iam::123456789012:policy/boundary",
    )
    """Attached to every role that the stacks make."""

    role_path: str = Field(
        default="/",
        pattern=r"^/([\x21-\x2e\x30-\x7e]+/)*$",
        max_length=512,
        description="an IAM path that begins and ends with a slash, such as /training/",
    )
    """Of every role and policy that the stacks make."""

    @model_validator(mode="after")
    def _account_has_its_region(self) -> Self:
        if self.aws_account and not self.aws_region:
            raise ValueError("aws_account is given without aws_region: set both, or the region")
        return self
