from __future__ import annotations

import json

import pytest

from charts.make.shared import IMAGE
from tests.training.kubernetes.in_cluster import InCluster
from training.errors import UsageError
from training.kubernetes import images
from training.kubernetes.images import chosen, pinned


def test_images_lists_what_to_mirror(inside: InCluster) -> None:
    code, text = inside.run("images", "--format", "json", "--registry", "mirror.example/a")
    rows = {row["name"]: row for row in json.loads(text)["images"]}
    assert code == 0
    assert rows["autoscaler"]["address"].startswith(
        "mirror.example/a/autoscaling/cluster-autoscaler:v1.35.2@sha256:"
    )
    assert rows["mpi-operator"]["address"] == "mirror.example/a/mpioperator/mpi-operator:0.8.0"


def test_no_part_of_the_cluster_moves_by_itself() -> None:
    for version in ("1.34", "1.35", "1.36"):
        for image in pinned(version, efa=True):
            assert ":latest" not in image.address
            assert image.is_pinned or image.name in ("mpi-operator", "efa-device-plugin")


def test_the_users_own_address_wins_over_the_registry() -> None:
    digest = f"sha256:{'0' * 64}"
    images = chosen(
        pinned("1.35", efa=False), registry="mirror.example", own=[f"folders=a.b/c@{digest}"]
    )
    assert next(each.address for each in images if each.name == "folders") == f"a.b/c@{digest}"


@pytest.mark.parametrize(
    ("registry", "own", "said"),
    [
        (None, ["nothing=a.b/c:1"], "expected one of autoscaler"),
        (None, ["folders=a.b/c"], "expected folders=REGISTRY/NAME:TAG"),
        (None, ["folders=a.b/c:latest"], "not latest"),
        ("https://mirror.example", [], "expected HOST or HOST/PATH"),
    ],
)
def test_what_is_no_address_is_refused(registry: str | None, own: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        chosen(pinned("1.35", efa=False), registry=registry, own=own)


def test_an_image_of_jobs_is_named_as_the_charts_take_it() -> None:
    assert f"^{images.ADDRESS.pattern}$" == IMAGE
