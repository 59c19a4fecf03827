"""`--set` and files of values read 7 as a number: it means the text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.charts.jupyter.asking import VALUES
from tests.charts.rendering import (
    TRAINING,
    hyperparameters,
    launcher,
    only,
    pod_templates,
    render,
    variables,
    worker,
)


@pytest.mark.parametrize("chart", TRAINING)
def test_a_number_among_texts_arrives_as_it_was_typed(chart: str) -> None:
    objects = render(
        chart,
        {"job": {"hyperparameters": {"rate": 0.25, "many": 12_345_678}, "log": "/fsx/log"}},
        "job.hyperparameters.seed=7",
        "job.environment.FOO=1",
        "job.environment.LARGE=9007199254740991",
        "job.tags.team=7",
    )

    texts = hyperparameters(objects)
    assert [texts[key] for key in ("seed", "rate", "many")] == ["7", "0.25", "12345678"]
    told = variables(worker(objects))
    assert (told["FOO"], told["LARGE"]) == ("1", "9007199254740991")
    tags = only("MPIJob", objects)["metadata"]["annotations"]["mask-rcnn/tags"]
    assert json.loads(tags) == {"team": "7"}


@pytest.mark.parametrize(
    ("asked", "cores"), [("2", "2"), ("0.5", "0.5"), ("500m", "500m"), ("94.5", "94.5")]
)
def test_cores_are_numbers_too(asked: str, cores: str) -> None:
    objects = render(
        "maskrcnn", {"job": {"log": "/fsx/log"}}, f"launcher.cpu={asked}", f"resources.cpu={asked}"
    )

    for pod in (launcher(objects), worker(objects)):
        resources = pod["containers"][0]["resources"]
        assert resources["limits"]["cpu"] == resources["requests"]["cpu"] == cores


def test_cores_of_a_file_are_numbers_too() -> None:
    objects = render("maskrcnn", {"resources": {"cpu": 1.5}, "launcher": {"cpu": 2}})

    assert worker(objects)["containers"][0]["resources"]["limits"]["cpu"] == "1.5"
    assert launcher(objects)["containers"][0]["resources"]["limits"]["cpu"] == "2"


@pytest.mark.parametrize("chart", ["attach", "stage-data"])
def test_cores_of_helpers_are_numbers_too(chart: str) -> None:
    for _, template in pod_templates(render(chart, None, "resources.cpu=2")):
        assert template["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "2"


def test_cores_of_jupyter_are_numbers_too() -> None:
    given: dict[str, Any] = {**VALUES, "tensorboard": {"cpu": 0.5}}

    spec = only("Deployment", render("maskrcnn-jupyter", given, "jupyter.cpu=2"))["spec"]

    cores = [each["resources"]["limits"]["cpu"] for each in spec["template"]["spec"]["containers"]]
    assert cores == ["2", "0.5", "500m"]


def test_arguments_and_variables_of_staging_are_numbers_too() -> None:
    objects = render(
        "stage-data",
        None,
        "args={stage,--to,efs,--workers,4}",
        "job.environment.FOO=1",
        "job.hyperparameters.a=3",
        "job.tags.team=7",
    )

    container = only("Job", objects)["spec"]["template"]["spec"]["containers"][0]
    assert container["args"][-2:] == ["--workers", "4"]
    assert {"name": "FOO", "value": "1"} in container["env"]
    assert only("ConfigMap", objects)["data"]["hyperparameters.json"] == '{"a":"3"}'
    annotations = only("Job", objects)["metadata"]["annotations"]
    assert annotations["mask-rcnn/tags"] == '{"team":"7"}'
