"""Settings of the image repositories."""

from __future__ import annotations

import pytest

from stacks.settings import Settings
from training.errors import UsageError


def test_accounts_are_read_as_a_list() -> None:
    settings = Settings.from_context({"registry_pull_accounts": "111122223333, 444455556666"})
    assert settings.registry.pull_accounts == ("111122223333", "444455556666")


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (
            {"registry_pull_accounts": [f"{n:012}" for n in range(201)]},
            "201 accounts are more than a repository's policy has room for",
        ),
        ({"registry_pull_accounts": "1111"}, "'1111' is not an account id; allowed is account"),
        ({"registry_pull_accounts": "*"}, "'*' is not an account id"),
        (
            {"registry_pull_accounts": "111122223333,111122223333"},
            "an account is there twice",
        ),
        ({"registry_kept_images": "0"}, "context key registry_kept_images = '0': allowed is 1 to"),
        ({"registry_untagged_days": "x"}, "registry_untagged_days = 'x': allowed is 1 to 365"),
    ],
)
def test_a_wrong_value_is_named(context: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match="context key registry_") as error:
        Settings.from_context(context)
    assert reason in str(error.value)
