"""Settings that hold for every stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from stacks.settings.arns import ACCOUNT_ID, REGION, problems_of_boundary_arn
from stacks.settings.group import OptionalText, Pairs, SettingsGroup, checked_by
from stacks.settings.tag_rules import TAGS_ALLOWED, problems_of_tags

RESERVED_ROLE_PATHS = ("/aws-service-role/", "/aws-reserved/")
"""Of service-linked roles and of IAM Identity Center's; nobody else can make roles there.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
"""


def _problems_of_role_path(path: str) -> Iterator[str]:
    for reserved in RESERVED_ROLE_PATHS:
        if path.lower().startswith(reserved):
            yield f"{reserved} is AWS's own"


class GeneralSettings(SettingsGroup):
    """Account, region, tags, protection and the bounds of every role."""

    aws_account: OptionalText = Field(
        default=None, pattern=f"^{ACCOUNT_ID}$", description="an account id of 12 digits"
    )
    """Without it: the account whose credentials deploy."""

    aws_region: OptionalText = Field(
        default=None,
        pattern=f"^{REGION}$",
        description="the name of a region, such as us-west-2",
    )
    """Without it: the region of the profile that deploys."""

    project: str = Field(
        default="distributed-mask-rcnn",
        pattern=r"^[A-Za-z][A-Za-z0-9-]{0,62}$",
        description="1 to 63 letters, digits and hyphens, a letter first",
    )
    """The value of the cost allocation tag `Project` on everything that the stacks make."""

    tags: Annotated[Pairs, AfterValidator(checked_by(problems_of_tags))] = Field(
        default={}, description=TAGS_ALLOWED
    )
    """More tags on everything."""

    termination_protection: bool = Field(default=False, description="true or false")
    """Whether AWS refuses to delete the stacks until that is switched off."""

    permissions_boundary: Annotated[
        OptionalText,
        AfterValidator(checked_by(problems_of_boundary_arn)),
    ] = Field(
        default=None,
        max_length=2048,
        description="the ARN of an IAM policy, such as arn:aws:iam::123456789012:policy/boundary",
    )
    """Attached to every role that the stacks make."""

    role_path: Annotated[str, AfterValidator(checked_by(_problems_of_role_path))] = Field(
        default="/",
        pattern=r"^/([A-Za-z0-9+=,.@_-]+/)*$",
        max_length=512,
        description="an IAM path that begins and ends with a slash, such as /training/; between "
        "slashes letters, digits and + = , . @ _ -",
    )
    """Of every role and policy that the stacks make."""

    @model_validator(mode="after")
    def _account_has_its_region(self) -> Self:
        if self.aws_account and not self.aws_region:
            raise ValueError(
                "aws_account is given without aws_region. The templates name both or neither: set "
                "aws_region too, or leave aws_account out, and account and region are those of "
                "the profile that deploys"
            )
        return self
