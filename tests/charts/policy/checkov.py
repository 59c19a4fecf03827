"""Runs checkov's rules for Kubernetes on rendered charts, offline."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from tests.charts.rendering import Document, pod_templates
from tests.stacks.scanning.environment import ScannerEnvironment


def as_pods(objects: Sequence[Document]) -> list[Document]:
    """Return the pods that objects are made to, and all objects that checkov knows.

    An MPIJob is none: the operator makes pods of its templates.
    """
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name.lower(), "namespace": "kubeflow", **template["metadata"]},
            "spec": template["spec"],
        }
        for name, template in pod_templates(objects)
    ]
    return [*pods, *(each for each in objects if each["kind"] in {"NetworkPolicy", "ConfigMap"})]


def findings(
    environment: ScannerEnvironment, rendered: Mapping[str, Sequence[Document]], folder: Path
) -> Iterator[tuple[str, str]]:
    """Yield the rule and the place of each check that failed.

    Args:
        rendered: A name of what was rendered, to its objects.
        folder: Empty; the objects are written there.
    """
    for name, objects in rendered.items():
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump_all(as_pods(objects)), encoding="utf-8")
    done = subprocess.run(
        [
            environment.python, environment.program("checkov"), "--directory", folder,
            "--framework", "kubernetes", "--skip-download", "--quiet", "--compact",
            "--output", "json",
        ],
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    report = json.loads(done.stdout)
    assert not report["summary"]["parsing_errors"], report
    assert report["summary"]["resource_count"] >= len(rendered)
    for check in report["results"]["failed_checks"]:
        yield check["check_id"], f"{Path(check['file_path']).name}: {check['resource']}"
