"""`python app.py` as the CDK CLI runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import app
from tests.stacks.matrix import environment_of_nobody

ROOT = Path(__file__).resolve().parents[1]


def run_app(outdir: Path, context: dict[str, object]) -> subprocess.CompletedProcess[str]:
    """Run it without credentials, account and region."""
    return subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env={
            **environment_of_nobody(),
            "CDK_OUTDIR": str(outdir),
            "CDK_CONTEXT_JSON": json.dumps(context),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_app_synthesizes_all_stacks_silently_in_an_order_that_can_be_deployed(
    tmp_path: Path,
) -> None:
    done = run_app(tmp_path, {})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    artifacts = json.loads((tmp_path / "manifest.json").read_text("utf-8"))["artifacts"]
    stacks = {
        name: artifact
        for name, artifact in artifacts.items()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    assert set(stacks) == {
        "NetworkStack",
        "StorageStack",
        "RegistryStack",
        "NotebookStack",
        "ClusterStack",
        "KubernetesStack",
    }
    assert "NetworkStack" in stacks["StorageStack"]["dependencies"]
    for name, artifact in stacks.items():
        assert artifact["environment"] == "aws://unknown-account/unknown-region"
        assert artifact["properties"].get("stackName", name) == name


def test_a_wrong_context_key_ends_2_with_one_line_and_nothing_written(tmp_path: Path) -> None:
    done = run_app(tmp_path / "out", {"vpc_cdir": "10.0.0.0/16"})
    said = "error: context key vpc_cdir is not known: did you mean vpc_cidr?\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert not list(tmp_path.glob("out/*.template.json"))


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (
            {"nat_gateways": "many"},
            "context key nat_gateways = 'many': allowed is 0 to the number of zones",
        ),
        (
            {"cluster_ssh_location": "0.0.0.0/0"},
            "context: cluster_ssh_location = 0.0.0.0/0 lets everybody try to sign in: name your "
            "own network, /8 or smaller, or leave it out and use Session Manager (who wants it "
            "open all the same sets cluster_allow_open_ssh = true)",
        ),
        (
            {
                "vpc_cidr": "10.0.0.0/16",
                "public_subnet_cidrs": "10.0.0.0/24",
                "private_subnet_cidrs": "10.0.0.128/25,10.0.1.0/24,10.0.2.0/24",
            },
            "context: public_subnet_cidrs 10.0.0.0/24 overlaps private_subnet_cidrs "
            "10.0.0.128/25: give each its own addresses",
        ),
        (
            {"fsx_deployment": "SCRATCH_2", "fsx_throughput_mbps_per_tib": "125"},
            "context: fsx_throughput_mbps_per_tib = 125 does not go with fsx_deployment = "
            "SCRATCH_2, whose throughput is fixed at 200: leave it out",
        ),
    ],
)
def test_a_wrong_value_is_one_line(
    context: dict[str, object],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CDK_OUTDIR", str(tmp_path / "out"))
    monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps(context))
    assert app.main() == 2
    assert capsys.readouterr() == ("", f"error: {said}\n")
    assert not list(tmp_path.glob("out/*.template.json"))


def test_cdk_json_runs_this_app_with_the_projects_python() -> None:
    settings = json.loads((ROOT / "cdk.json").read_text("utf-8"))
    assert settings["app"] == ".venv/bin/python app.py"
