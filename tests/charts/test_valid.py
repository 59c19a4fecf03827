"""What the charts render is what Kubernetes and the MPI Operator read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest

from charts.make.files import groups_of_charts
from stacks.settings.kubernetes_versions import DEFAULT_VERSION
from tests.charts.fields import problems
from tests.charts.matrix import rows, type_rows
from tests.charts.rendering import Document, pod_templates, refusal, render, run, worker

NOT_OF_KUBERNETES = {"MPIJob", "PodGroup"}
"""Kinds that others define."""

ROWS = rows()


@pytest.mark.parametrize(("chart", "name", "values"), ROWS, ids=[f"{c} {n}" for c, n, _ in ROWS])
def test_the_objects_are_valid(chart: str, name: str, values: dict[str, Any]) -> None:
    objects = render(chart, values)

    for each in checked_by_kubernetes(objects):
        kubernetes_validate.validate(each, DEFAULT_VERSION, strict=True)
    for each in objects:
        if each["kind"] == "MPIJob":
            assert list(problems(each)) == []


def checked_by_kubernetes(objects: list[Document]) -> Iterator[Document]:
    """Yield objects of Kubernetes itself, and a pod for each template of an MPIJob."""
    yield from (each for each in objects if each["kind"] not in NOT_OF_KUBERNETES)
    for name, template in pod_templates(objects):
        metadata = {"name": name.lower(), **template["metadata"]}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def test_the_list_of_fields_refuses_what_the_definition_refuses() -> None:
    (job,) = (each for each in render("maskrcnn") if each["kind"] == "MPIJob")
    job["spec"]["slotsPerWorker"] = "8"
    job["spec"]["runPolicy"]["backOffLimit"] = 1
    job["spec"]["mpiImplementation"] = "LAM"
    job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] = True

    assert sorted(problems(job)) == [
        "spec.mpiImplementation: 'LAM' is not one of OpenMPI|Intel|MPICH",
        "spec.mpiReplicaSpecs.*.replicas: True is no integer",
        "spec.runPolicy.backOffLimit: the definition has no such field",
        "spec.slotsPerWorker: '8' is no integer",
    ]


@pytest.mark.parametrize("chart", [*sorted(groups_of_charts()), "library"])
def test_helm_finds_nothing_to_lint(chart: str) -> None:
    done = run(["lint", "--strict", f"charts/{chart}"])

    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout


@pytest.mark.soak
@pytest.mark.parametrize(("chart", "instance_type"), type_rows())
def test_a_worker_fits_on_every_type_that_its_chart_takes(chart: str, instance_type: str) -> None:
    from training.instances import find_instance

    instance = find_instance(instance_type)
    values = {"maskrcnn": {"gpu_instance_type": instance_type, "nodes": 8}}
    objects = render(chart, values)

    for each in checked_by_kubernetes(objects):
        kubernetes_validate.validate(each, DEFAULT_VERSION, strict=True)
    limits = worker(objects)["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == instance.gpus
    assert int(limits["cpu"]) < instance.vcpus
    assert int(limits["memory"].removesuffix("Mi")) < instance.memory_gib * 1024 - 2048
    assert limits.get("vpc.amazonaws.com/efa", 0) == instance.efa_interfaces
    half = {"maskrcnn": {**values["maskrcnn"], "gpus_per_node": instance.gpus + 1}}
    assert f"{instance_type} has {instance.gpus}" in refusal(chart, half)
