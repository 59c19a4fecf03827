"""Runs Helm on the project's charts; no cluster is asked."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from training.kubernetes.tools import helm

PROJECT = Path(__file__).resolve().parents[2]
CHARTS = PROJECT / "charts"
TRAINING = {
    "maskrcnn": "tensorpack",
    "maskrcnn-optimized": "aws-samples",
    "maskrcnn-horovod": "horovod",
}
"""Charts that train, and their algorithms."""

Document = dict[str, Any]
Values = Mapping[str, Any]


def run(arguments: Sequence[str], values: Values | None = None) -> subprocess.CompletedProcess[str]:
    """Run Helm in the project's folder, with values on its standard input."""
    given = [] if values is None else ["--values", "-"]
    return subprocess.run(
        [str(helm()), *arguments, *given],
        cwd=PROJECT,
        input=None if values is None else _as_yaml(values),
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def render(
    chart: str, values: Values | None = None, *sets: str, release: str = "job"
) -> list[Document]:
    """Return the objects of a release."""
    done = _template(chart, json.dumps(values), sets, release)
    assert done.returncode == 0, done.stderr
    return documents(done.stdout)


def refusal(chart: str, values: Values | None = None, *sets: str, release: str = "job") -> str:
    """Return what Helm says of values that it refuses."""
    done = _template(chart, json.dumps(values), sets, release)
    assert done.returncode != 0, done.stdout
    assert done.stdout == ""
    return done.stderr.partition("Error: ")[2]


@cache
def _template(
    chart: str, values: str, sets: tuple[str, ...], release: str
) -> subprocess.CompletedProcess[str]:
    each_set = [part for each in sets for part in ("--set", each)]
    return run(["template", release, f"charts/{chart}", *each_set], json.loads(values))


def documents(text: str) -> list[Document]:
    return [each for each in yaml.load_all(text, Loader=yaml.CSafeLoader) if each]


def only(kind: str, objects: Sequence[Document]) -> Document:
    (found,) = (each for each in objects if each["kind"] == kind)
    return found


def pod_templates(objects: Sequence[Document]) -> Iterator[tuple[str, Document]]:
    """Yield what each object makes pods of, with a name."""
    for each in objects:
        if each["kind"] == "MPIJob":
            for role, replica in each["spec"]["mpiReplicaSpecs"].items():
                yield role, replica["template"]
        elif each["kind"] == "Pod":
            yield each["metadata"]["name"], each
        elif each["kind"] == "Job":
            yield "Job", each["spec"]["template"]


def worker(objects: Sequence[Document]) -> Document:
    """Return the specification of a job's workers."""
    return dict(pod_templates(objects))["Worker"]["spec"]


def launcher(objects: Sequence[Document]) -> Document:
    return dict(pod_templates(objects))["Launcher"]["spec"]


def variables(pod: Document) -> dict[str, str]:
    """Return the variables of a pod's only container, but for those from elsewhere."""
    (container,) = pod["containers"]
    return {each["name"]: each["value"] for each in container["env"] if "value" in each}


def hyperparameters(objects: Sequence[Document]) -> dict[str, str]:
    text = only("ConfigMap", objects)["data"]["hyperparameters.json"]
    read: dict[str, str] = json.loads(text)
    return read


def _as_yaml(values: Values) -> str:
    """Return JSON that YAML, which Helm reads, takes for the same."""
    text = json.dumps(values, ensure_ascii=False)
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text
    )
