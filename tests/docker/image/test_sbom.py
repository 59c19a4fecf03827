"""The list of what an image holds."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of this machine, which is Debian too."""
    file = tmp_path_factory.mktemp("sbom") / "sbom.json"
    subprocess.run(
        [sys.executable, ROOT / "docker" / "sbom.py", "horovod", file], check=True, timeout=60
    )
    read: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return read


VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_5).validate_str(sys.stdin.read()))
"""


def test_it_is_a_cyclonedx_document(document: dict[str, Any]) -> None:
    """In a process that has all checks of formats, which take long to load."""
    done = subprocess.run(
        [sys.executable, "-c", VALIDATE],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None\n"


def test_it_has_debian_and_python_packages_by_their_versions(document: dict[str, Any]) -> None:
    purls = {each["purl"] for each in document["components"]}
    assert "pkg:pypi/typer@0.29.2" in purls
    bash = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Version}", "bash"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert any(
        purl.startswith(f"pkg:deb/debian/bash@{bash.replace('+', '%2B')}?") for purl in purls
    )
    assert len(purls) == len(document["components"])
