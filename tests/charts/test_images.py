"""All charts take an image by the same rule: one that is there by name, and the same tomorrow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from charts.make.shared import IMAGE
from tests.charts.jupyter.asking import VALUES
from tests.charts.rendering import CHARTS, TRAINING, refusal, render
from training.kubernetes.images import ADDRESS

DIGEST = f"sha256:{'0' * 64}"
KEYS = {
    **dict.fromkeys(TRAINING, "maskrcnn.image"),
    "stage-data": "image",
    "attach": "image",
    "maskrcnn-jupyter": "image",
}

TAKEN = [
    "123456789012.dkr.ecr.us-west-2.amazonaws.com/mask-rcnn/horovod:0123456789ab",
    f"123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/a/b@{DIGEST}",
    f"registry.k8s.io/a__b/c.d/e--f:v1.2_3-4@{DIGEST}",
    "localhost:5000/x:1",
    "busybox:1.36",
    "registry.xn--p1ai/a:1",
]
REFUSED = [
    "repository",
    "registry:5000/jupyter",
    "http://a:b",
    "FOO/x:1",
    "a#b:1",
    "a:1@sha256:abc",
    "a//b:1",
    "a..b/c:1",
    "a.b:x/c:1",
    "a/b/:1",
    "-a/b:1",
    "a b:1",
    "a:",
    f"a:{'t' * 129}",
    "a:1\n",
]


@pytest.mark.parametrize("image", TAKEN)
def test_what_names_an_image_is_taken(image: str) -> None:
    assert ADDRESS.fullmatch(image)


@pytest.mark.parametrize("image", REFUSED)
def test_what_names_none_is_refused(image: str) -> None:
    assert not ADDRESS.fullmatch(image)


def test_every_schema_has_the_one_rule() -> None:
    for path in CHARTS.glob("*/values.schema.json"):
        schema = json.loads(path.read_text("utf-8"))
        rules = set(patterns(schema))
        assert rules, path
        assert rules <= {IMAGE, f"{IMAGE}|^$"}


def patterns(schema: Any) -> list[str]:
    """Return the patterns of all keys called image, and of what is defined under that name."""
    if not isinstance(schema, dict):
        return []
    rule = schema.get("image")
    found = [rule["pattern"]] if isinstance(rule, dict) and "pattern" in rule else []
    return [*found, *(text for each in schema.values() for text in patterns(each))]


def given(chart: str, image: str) -> dict[str, Any]:
    section, _, key = KEYS[chart].rpartition(".")
    if chart == "maskrcnn-jupyter":
        return {**VALUES, key: image}
    return {section: {key: image}} if section else {key: image}


@pytest.mark.parametrize("chart", KEYS)
def test_the_tag_that_moves_is_refused(chart: str) -> None:
    image = "registry.example/mask-rcnn/any:latest"

    said = refusal(chart, given(chart, image))

    assert f"{KEYS[chart]}: {image}: must end with a digest or a tag other than latest" in said


def test_the_tag_that_moves_is_refused_for_the_copier_too() -> None:
    s3 = {"source": "s3://bucket/train", "image": "a/b:latest"}

    assert "job.s3.image: a/b:latest: must end" in refusal("maskrcnn", {"job": {"s3": s3}})


@pytest.mark.parametrize("chart", KEYS)
def test_helm_reads_the_rule_as_python_does(chart: str) -> None:
    assert "does not match pattern" in refusal(chart, given(chart, "a:1@sha256:abc"))
    assert render(chart, given(chart, TAKEN[2]))
