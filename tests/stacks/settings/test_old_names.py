"""Parameters of the old templates, and what the page about them says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stacks.settings import Settings
from stacks.settings.old_names import NOW, advice_for

PAGE = Path(__file__).resolve().parents[3] / "docs" / "migration.md"


def rows() -> dict[str, set[str]]:
    """Return each old parameter of the page with all that the page says it is now."""
    found: dict[str, set[str]] = {}
    is_parameters = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            is_parameters = False
        elif cells[0] in ("old parameter", "old variable"):
            is_parameters = True
        elif is_parameters and not set(line) <= set("|- "):
            for name in re.findall(r"`([^`]+)`", cells[0]):
                found.setdefault(name, set()).update(re.findall(r"`([^`]+)`", cells[2]))
    return found


def test_every_old_parameter_of_the_page_is_known_unless_it_is_a_setting_still() -> None:
    assert set(rows()) - set(Settings.allowed()) == set(NOW)


@pytest.mark.parametrize("name", NOW)
def test_an_old_parameter_is_now_what_the_page_says(name: str) -> None:
    assert set(NOW[name]) <= rows()[name]
    assert bool(NOW[name]) == bool(rows()[name]) or name == "SecurityGroupId"
    assert set(NOW[name]) <= set(Settings.allowed())


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("EbsVolumeSize", "is notebook_volume_gib now (docs/migration.md)"),
        ("efsFileSystemID", "is efs_id now"),
        ("S3ImportPath", "is bucket_name and bucket_prefix and fsx_bucket_link now"),
        ("EFSMountPoint", "nothing replaces it: leave it out"),
    ],
)
def test_the_advice_names_what_it_is_now(key: str, said: str) -> None:
    assert said in str(advice_for(key))


def test_a_misspelt_setting_is_no_old_parameter() -> None:
    assert advice_for("fsx_capacity") is None
