"""No chart asks for what a careful cluster would not give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.charts.matrix import rows
from tests.charts.policy.checkov import findings
from tests.charts.policy.declined import DECLINED
from tests.charts.rendering import Document, pod_templates, render
from tests.stacks.scanning.environment import scanner_environment

# Of each template every branch that says something of pods.
ROWS = {
    f"{chart}-{name}".replace(" ", "-"): (chart, values)
    for chart, name, values in rows()
    if name in {"told by the launcher", "data elsewhere", "data on S3", "EFS only", "elastic"}
}


@pytest.fixture(scope="module")
def rendered() -> dict[str, list[Document]]:
    return {name: render(chart, values) for name, (chart, values) in ROWS.items()}


@pytest.mark.slow
def test_checkov_finds_nothing_that_we_would_not_defend(
    rendered: dict[str, list[Document]], tmp_path: Path
) -> None:
    found = list(findings(scanner_environment(), rendered, tmp_path))

    assert [each for each in found if each[0] not in DECLINED] == []
    assert sorted(DECLINED) == sorted({rule for rule, _ in found})


def test_every_pod_is_one_that_the_restricted_standard_admits(
    rendered: dict[str, list[Document]],
) -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted"""
    for objects in rendered.values():
        for _, template in pod_templates(objects):
            pod = template["spec"]
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["securityContext"]["runAsUser"] == 1000
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
            for volume in pod["volumes"]:
                kinds = set(volume) - {"name"}
                assert kinds <= {"persistentVolumeClaim", "emptyDir", "configMap"}
            for container in [*pod["containers"], *pod.get("initContainers", [])]:
                assert container["securityContext"] == {
                    "allowPrivilegeEscalation": False,
                    "privileged": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                }
                assert container["resources"]["limits"] == container["resources"]["requests"]
                assert {"cpu", "memory"} <= set(container["resources"]["limits"])


def test_no_pod_has_a_key_to_the_api_server(rendered: dict[str, list[Document]]) -> None:
    for objects in rendered.values():
        for _, template in pod_templates(objects):
            assert template["spec"]["automountServiceAccountToken"] is False
            assert template["spec"]["serviceAccountName"] == "mask-rcnn"


def test_no_chart_has_a_secret_or_a_right_of_its_own(rendered: dict[str, list[Document]]) -> None:
    kinds = {each["kind"] for objects in rendered.values() for each in objects}

    assert kinds <= {"MPIJob", "Job", "Pod", "ConfigMap", "NetworkPolicy", "PodGroup"}
