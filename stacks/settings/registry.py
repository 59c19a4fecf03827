"""Settings of RegistryStack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from stacks.settings.group import CommaSeparated, SettingsGroup, checked_by, prefixed


def _problems_of_accounts(accounts: tuple[str, ...]) -> Iterator[str]:
    for account in accounts:
        if not re.fullmatch(r"\d{12}", account):
            yield f"{account!r} is not an account id"
    if len(set(accounts)) != len(accounts):
        yield "an account is there twice"


class RegistrySettings(SettingsGroup):
    """How long images stay, and who else may pull them."""

    model_config = prefixed("registry_")

    pull_accounts: Annotated[
        tuple[str, ...], CommaSeparated, AfterValidator(checked_by(_problems_of_accounts))
    ] = Field(default=(), description="account ids of 12 digits: A,B,C")
    """Other accounts whose roles may pull the images, where their own policies allow it too."""

    kept_images: int = Field(default=100, ge=1, le=10000, description="1 to 10000")
    """Of each repository; older ones are deleted."""

    untagged_days: int = Field(default=14, ge=1, le=365, description="1 to 365")
    """After which an image that no tag names is deleted."""
