"""The real CDK CLI against local AWS, with this project's stacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws, running_local_aws
from training.outputs import CONTRACTS, read_outputs_file

STACKS = ("NetworkStack", "StorageStack", "RegistryStack")
CLI = shutil.which("cdk", path=f"{ROOT / 'node_modules/.bin'}:{os.environ.get('PATH', '')}")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CLI is None, reason="the CDK CLI is not installed: make setup"),
]


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    with running_local_aws(tmp_path_factory.mktemp("cdk")) as running:
        yield running


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The synthesized stacks: once, since each command of the CLI would do it again."""
    folder = tmp_path_factory.mktemp("assembly")
    environment = os.environ | {"CDK_OUTDIR": str(folder)}
    subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=environment, check=True)
    return folder


class Cdk:
    """The CLI, in a folder without a cdk.json."""

    def __init__(self, aws: LocalAws, folder: Path) -> None:
        self._aws = aws
        self._folder = folder

    def __call__(self, *arguments: str, assembly: Path | None = None) -> str:
        """Run a command that must succeed, and return all that it printed."""
        answer = self.run(*arguments, assembly=assembly)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout + answer.stderr

    def run(
        self, *arguments: str, assembly: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        assert CLI is not None
        app = ["--app", str(assembly)] if assembly else []
        return subprocess.run(
            [CLI, *arguments, *app],
            cwd=self._folder,
            env=self._aws.process_env() | {"CI": "true", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )


@pytest.fixture(scope="module")
def cdk(aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Cdk:
    made = Cdk(aws, tmp_path_factory.mktemp("project"))
    made("bootstrap", "aws://123456789012/us-east-1")
    return made


def statuses(aws: LocalAws) -> dict[str, str]:
    stacks = aws.client("cloudformation").describe_stacks()["Stacks"]
    return {stack["StackName"]: stack["StackStatus"] for stack in stacks}


def test_stacks_are_deployed_kept_and_destroyed(
    aws: LocalAws, cdk: Cdk, assembly: Path, tmp_path: Path
) -> None:
    outputs_file = tmp_path / "outputs.json"
    cdk("deploy", *STACKS, "--outputs-file", str(outputs_file), assembly=assembly)
    assert statuses(aws) == dict.fromkeys(("CDKToolkit", *STACKS), "CREATE_COMPLETE")
    outputs = read_outputs_file(outputs_file)
    for contract in CONTRACTS:
        outputs.read(contract)
    storage = outputs.stacks["StorageStack"]
    aws.client("s3").put_object(Bucket=storage["BucketName"], Key="a/b", Body=b"data")
    data = aws.mounts / storage["FsxId"] / storage["FsxDataPath"].strip("/")
    assert (data / "a/b").read_bytes() == b"data"

    again = cdk("deploy", *STACKS, assembly=assembly)
    assert again.count("(no changes)") == len(STACKS)
    assert "differences: 0" in cdk("diff", *STACKS, assembly=assembly)

    cdk("destroy", "--force", "--all", assembly=assembly)
    assert statuses(aws) == {"CDKToolkit": "CREATE_COMPLETE"}
    kept = aws.client("s3").get_object(Bucket=storage["BucketName"], Key="a/b")
    assert kept["Body"].read() == b"data"
    assert (aws.mounts / storage["EfsId"]).is_dir()
    assert not (aws.mounts / storage["FsxId"]).exists()


def write_assembly(folder: Path, template: dict[str, Any]) -> Path:
    """Write a cloud assembly of one stack, `Bad`."""
    folder.mkdir()
    (folder / "Bad.template.json").write_text(json.dumps(template))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://123456789012/us-east-1",
        "properties": {"templateFile": "Bad.template.json", "stackName": "Bad"},
    }
    manifest = {"version": "36.0.0", "artifacts": {"Bad": stack}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize("method", ["direct", "change-set"])
def test_unknown_resource_fails_the_deployment_by_name(
    aws: LocalAws, cdk: Cdk, tmp_path: Path, method: str
) -> None:
    template = {"Resources": {"Rocket": {"Type": "AWS::Space::Rocket"}}}
    bad = write_assembly(tmp_path / "bad", template)
    answer = cdk.run("deploy", "Bad", "--method", method, assembly=bad)
    assert answer.returncode == 1
    assert "Rocket (AWS::Space::Rocket)" in " ".join((answer.stdout + answer.stderr).split())
    assert "Bad" not in statuses(aws)


def test_failed_creation_fails_the_deployment_with_the_reason(
    aws: LocalAws, cdk: Cdk, tmp_path: Path
) -> None:
    subnet = {"VpcId": "vpc-0123", "CidrBlock": "10.0.0.0/24"}
    template = {"Resources": {"Lost": {"Type": "AWS::EC2::Subnet", "Properties": subnet}}}
    bad = write_assembly(tmp_path / "bad", template)
    answer = cdk.run("deploy", "Bad", "--method", "direct", assembly=bad)
    assert answer.returncode == 1
    assert "vpc-0123" in answer.stdout + answer.stderr
    assert statuses(aws)["Bad"] == "ROLLBACK_COMPLETE"
