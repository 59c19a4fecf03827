from __future__ import annotations

from typing import Any

import pytest

from training.data.places import Place
from training.data.request import StageRequest
from training.errors import UsageError


def request(**changes: Any) -> StageRequest:
    values: dict[str, Any] = {
        "source": None,
        "from_place": None,
        "to": Place.EFS,
        "path": "train",
        "jobs": 8,
    }
    return StageRequest(**{**values, **changes})


def test_without_a_source_it_is_s3() -> None:
    assert request().origin is Place.S3
    assert request(source="folder").origin is None
    assert request(to=Place.S3, from_place=Place.FSX, release=True).origin is Place.FSX


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"source": "x", "from_place": Place.S3}, "give a source .* not both"),
        ({"to": Place.S3}, "name what to copy"),
        (
            {"to": Place.EFS, "from_place": Place.EFS},
            "--from efs --to efs: that is the same place; give another",
        ),
        ({"preload": True}, "--preload: is for --to fsx"),
        ({"release": True, "to": Place.FSX}, "--release: is for --from fsx --to s3"),
        ({"release": True, "source": "x", "to": Place.S3}, "--release: is for --from fsx --to s3"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        request(**changes)
