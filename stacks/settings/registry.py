"""Settings of RegistryStack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from stacks.settings.arns import ACCOUNT_ID
from stacks.settings.group import CommaSeparated, SettingsGroup, checked_by, prefixed
from stacks.settings.text import shown

MOST_PULL_ACCOUNTS = 200
"""Each takes up to 40 of the 10,240 characters of a repository's policy.

https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_SetRepositoryPolicy.html
"""


def _problems_of_accounts(accounts: tuple[str, ...]) -> Iterator[str]:
    for account in accounts:
        if not re.fullmatch(ACCOUNT_ID, account):
            yield f"{shown(account)} is not an account id"
    if len(accounts) > MOST_PULL_ACCOUNTS:
        yield f"{len(accounts)} accounts are more than a repository's policy has room for"
    if len(set(accounts)) != len(accounts):
        yield "an account is there twice"


class RegistrySettings(SettingsGroup):
    """How long images stay, and who else may pull them."""

    model_config = prefixed("registry_")

    pull_accounts: Annotated[
        tuple[str, ...], CommaSeparated, AfterValidator(checked_by(_problems_of_accounts))
    ] = Field(
        default=(), description=f"account ids of 12 digits: A,B,C; at most {MOST_PULL_ACCOUNTS}"
    )
    """Other accounts whose roles may pull the images, where their own policies allow it too."""

    kept_images: int = Field(default=100, ge=1, le=10000, description="1 to 10000")
    """Of each repository; older ones are deleted."""

    untagged_days: int = Field(default=14, ge=1, le=365, description="1 to 365")
    """After which an image that no tag names is deleted."""

    builder: Literal["create", "none"] = Field(default="create", description="create or none")
    """A project of CodeBuild that builds images for people without a container engine; it costs
    while it builds. none: leave it out."""
