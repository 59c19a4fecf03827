"""Links in other states than AVAILABLE, and several of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.data.test_lustre import ASSOCIATION, ID, FalseFsx, exports
from training.data.lustre_link import Link, find_deleting_link, find_link
from training.errors import PreflightError


def association(**members: Any) -> dict[str, Any]:
    return {**ASSOCIATION, **members}


def find(*associations: dict[str, Any]) -> Link | None:
    client: Any = FalseFsx(associations=list(associations))
    return find_link(client, ID, "s3://bucket/ml/train", "data/train")


def found(*associations: dict[str, Any]) -> Link:
    link = find(*associations)
    assert link
    return link


@pytest.mark.parametrize("state", ["CREATING", "DELETING", "FAILED"])
def test_a_link_over_which_nothing_comes_is_refused_with_what_fsx_says(state: str) -> None:
    details = {"Message": "the bucket is gone"}
    link = found(association(Lifecycle=state, FailureDetails=details))
    with pytest.raises(PreflightError) as caught:
        link.require_usable()
    assert str(caught.value).startswith(
        f"the link of /data of {ID} to s3://bucket/ml is {state} (the bucket is gone): "
    )


@pytest.mark.parametrize("state", ["AVAILABLE", "UPDATING", "MISCONFIGURED", "SOMETHING_NEW"])
def test_in_any_other_state_fsx_is_asked(state: str) -> None:
    link = found(association(Lifecycle=state))
    link.require_usable()
    assert link.state == state


@pytest.mark.parametrize(
    ("state", "exports_itself"), [("UPDATING", True), ("MISCONFIGURED", False)]
)
def test_a_misconfigured_link_exports_nothing_by_itself(state: str, exports_itself: bool) -> None:
    link = found(association(Lifecycle=state, **exports("NEW", "CHANGED")))
    assert link.exports_by_itself is exports_itself


def test_of_two_links_the_one_that_works_is_taken() -> None:
    assert found(association(Lifecycle="FAILED"), ASSOCIATION).state == "AVAILABLE"


@pytest.mark.parametrize(
    "members",
    [
        {"DataRepositoryPath": "s3://bucket/ml2"},
        {"DataRepositoryPath": "s3://bucket/m"},
        {"DataRepositoryPath": "s3://bucket2/ml"},
        {"DataRepositoryPath": "s3://bucket"},
        {"FileSystemPath": "/dat"},
        {"FileSystemPath": "/data/train"},
        {"FileSystemPath": "/"},
    ],
)
def test_what_begins_alike_is_another_place(members: dict[str, Any]) -> None:
    assert find(association(**members)) is None


@pytest.mark.parametrize("missing", ["FileSystemPath", "DataRepositoryPath"])
def test_an_association_that_does_not_say_what_it_links_is_passed_over(missing: str) -> None:
    without = {key: value for key, value in ASSOCIATION.items() if key != missing}
    assert find(without) is None
    assert found(without, ASSOCIATION).folder == "data"


def test_the_state_of_an_import_path_is_that_of_its_configuration() -> None:
    class Configured(FalseFsx):
        def describe_file_systems(self, **_: Any) -> dict[str, Any]:
            repository = {
                "ImportPath": "s3://bucket",
                "ExportPath": "s3://bucket",
                "Lifecycle": "FAILED",
                "FailureDetails": {"Message": "no bucket"},
            }
            lustre = {"DataRepositoryConfiguration": repository}
            return {"FileSystems": [{"LustreConfiguration": lustre}]}

    client: Any = Configured()
    link = find_link(client, ID, "s3://bucket/train", "train")
    assert link
    assert (link.state, link.said) == ("FAILED", "no bucket")


def test_a_file_system_that_fsx_does_not_describe_has_no_link() -> None:
    class Silent(FalseFsx):
        def describe_file_systems(self, **_: Any) -> dict[str, Any]:
            return {}

    client: Any = Silent()
    assert find_link(client, ID, "s3://bucket/train", "train") is None


@pytest.mark.parametrize(
    ("linked", "events", "is_found"),
    [
        ("/data", ("NEW", "CHANGED", "DELETED"), True),
        ("/", ("DELETED",), True),
        ("/data/train/pictures", ("DELETED",), True),
        ("/data", ("NEW", "CHANGED"), False),
        ("/data/tra", ("DELETED",), False),
        ("/data/val", ("DELETED",), False),
    ],
)
def test_a_link_that_deletes_in_s3_is_found_wherever_it_touches_the_folder(
    linked: str, events: tuple[str, ...], is_found: bool
) -> None:
    client: Any = FalseFsx(associations=[association(FileSystemPath=linked, **exports(*events))])
    assert (find_deleting_link(client, ID, "data/train") is not None) is is_found
