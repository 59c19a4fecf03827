"""The reading of the code finds what real commands send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner

from tests.conftest import LocalAws
from tests.stacks.permissions.calls import (
    Operation,
    operations_in_python,
    operations_in_scripts,
    operations_of_the_notebook,
)
from tests.stacks.permissions.modules import PROJECT, files_of
from training.data.__main__ import app
from training.outputs import StorageOutputs


def test_operations_are_found_by_method_paginator_and_waiter(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(
        "s3 = new_client(session, 's3')\n"
        "s3.get_object(Bucket='b', Key='k')\n"
        "s3.get_paginator('list_parts')\n"
        "s3.get_waiter('object_exists')\n"
        "s3.upload_file('f', 'b', 'k')\n"
        "ask(s3, 'list_multipart_uploads')\n"
        "environment.get_template('report')\n"
        "list_buckets()\n"
        "logs.get_log_events()\n"  # No client of that service is made.
    )
    assert {name for _, name in operations_in_python(tmp_path.iterdir())} == {
        *(
            "GetObject",
            "ListParts",
            "HeadObject",
            "ListMultipartUploads",
            "PutObject",
            "UploadPart",
        ),
        *("CreateMultipartUpload", "CompleteMultipartUpload", "AbortMultipartUpload"),
    }


def test_a_name_of_two_services_has_to_be_told_apart(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("client('ecr'), client('efs')\nx.list_tags_for_resource()\n")
    with pytest.raises(AssertionError, match="list_tags_for_resource is an operation of"):
        operations_in_python(tmp_path.iterdir())


def test_a_name_of_two_services_is_of_the_one_that_its_module_is_about(tmp_path: Path) -> None:
    (tmp_path / "aws").mkdir()
    (tmp_path / "aws" / "efs.py").write_text("ask(client, 'describe_file_systems')")
    (tmp_path / "aws" / "other.py").write_text("client('efs'), client('fsx')")
    assert operations_in_python((tmp_path / "aws").iterdir()) == {("efs", "DescribeFileSystems")}
    (tmp_path / "aws" / "other.py").write_text(
        "from mypy_boto3_fsx import FSxClient\n"
        "client('efs'), client('fsx'), x.describe_file_systems()"
    )
    assert operations_in_python((tmp_path / "aws").iterdir()) == {
        *[("efs", "DescribeFileSystems"), ("fsx", "DescribeFileSystems")]
    }


def test_of_a_thin_client_what_somebody_uses_counts(tmp_path: Path) -> None:
    (tmp_path / "aws").mkdir()
    (tmp_path / "aws" / "clients.py").write_text(
        "from training.aws.kms import Kms\nclass Clients:\n  kms = Kms(boto('kms'))"
    )
    (tmp_path / "aws" / "kms.py").write_text(
        "class Kms:\n"
        "  def key(self): return self._asked()\n"
        "  def _asked(self): ask(self._client, 'describe_key')\n"
        "  def policy(self): ask(self._client, 'get_key_policy')\n"
    )
    (tmp_path / "check.py").write_text("self._kms.key()\nself.efs.policy()")
    files = [*(tmp_path / "aws").iterdir(), tmp_path / "check.py"]
    assert operations_in_python(files) == {("kms", "DescribeKey")}
    (tmp_path / "check.py").write_text("clients.kms.policy()")
    assert operations_in_python(files) == {("kms", "GetKeyPolicy")}


def test_what_takes_positions_is_no_call_of_boto3(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(
        "client('sagemaker'), client('s3')\n"
        "PATTERN.search(text)\n"
        "client.search(Resource='TrainingJob')\n"
        "client.upload_file('f', 'b', 'k')\n"
    )
    found = operations_in_python(tmp_path.iterdir())
    assert {("sagemaker", "Search"), ("s3", "UploadPart")} <= found
    (tmp_path / "code.py").write_text("client('sagemaker')\nPATTERN.search(text)\n")
    assert operations_in_python(tmp_path.iterdir()) == set()


def test_commands_of_the_cli_are_found_in_shell_and_in_python(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("within 5 aws s3api get-object --bucket b\naws s3 sync a b\n")
    (tmp_path / "b.py").write_text('["aws", "sagemaker", "stop-notebook-instance"]\n')
    assert operations_in_scripts(tmp_path) == {
        ("s3", "GetObject"),
        ("s3", "ListObjectsV2"),
        ("sagemaker", "StopNotebookInstance"),
    }


@pytest.fixture(scope="module")
def bucket(local_aws: LocalAws) -> str:
    local_aws.client("s3").create_bucket(
        Bucket="calls", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    return "calls"


@pytest.fixture
def sent(
    local_aws: LocalAws, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[set[Operation]]:
    """What the commands of this test send to local AWS."""
    operations: set[Operation] = set()

    def record(model: Any, **_: object) -> None:
        operations.add((model.service_model.service_name, model.name))

    make = boto3.Session

    def recorded_session(*arguments: Any, **options: Any) -> boto3.Session:
        session = make(*arguments, **options)
        session.events.register("before-call", record)
        return session

    for name, value in local_aws.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "Session", recorded_session)
    yield operations


def test_what_a_copy_sends_was_found_in_the_code(
    sent: set[Operation], bucket: str, tmp_path: Path
) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "small.txt").write_text("small")
    (tmp_path / "train" / "large.bin").write_bytes(bytes(17 * 2**20))  # Goes in parts.
    outputs = tmp_path / "outputs.json"
    outputs.write_text(
        f'{{"{StorageOutputs.STACK}": {{"BucketName": "{bucket}", "EncryptionKeyArn": "k", '
        '"EfsId": "fs-1", "EfsSecurityGroupId": "sg-1", "EfsMountTargets": "create", '
        '"TrainingRoleArn": "r"}}'
    )
    arguments = ["stage", str(tmp_path / "train"), "--to", "s3", "--outputs-file", str(outputs)]

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 0, done.output
    assert {("s3", "UploadPart"), ("s3", "PutObject"), ("s3", "ListObjectsV2")} <= sent
    assert sent <= operations_of_the_notebook()


def test_what_a_look_for_outputs_sends_was_found_in_the_code(sent: set[Operation]) -> None:
    # No stack is there, which is an error: what counts is that it was asked for.
    assert CliRunner().invoke(app, ["stage", "s3://calls/train", "--to", "efs"]).exit_code != 0
    assert ("cloudformation", "DescribeStacks") in sent
    assert sent <= operations_of_the_notebook()


def test_modules_are_found_through_imports_of_all_kinds(tmp_path: Path) -> None:
    package = tmp_path / "training"
    (package / "far").mkdir(parents=True)
    for name, text in {
        "launch.py": "from training.near import x\ndef f(): from training import far",
        "near.py": "import training.nearer",
        "nearer.py": "from training.apart import thing",
        "far/__init__.py": "",
        "apart.py": "",
        "other.py": "",
    }.items():
        (package / name).write_text(text)
    found = files_of(["training.launch"], without=["training.apart"], project=tmp_path)
    assert {path.relative_to(package).as_posix() for path in found} == {
        *("launch.py", "near.py", "nearer.py", "far/__init__.py"),
    }


def test_the_commands_of_the_notebook_reach_the_clients_they_use() -> None:
    names = {path.relative_to(PROJECT).as_posix() for path in files_of()}
    assert {"training/data/bucket.py", "training/aws/cloudformation.py"} <= names
    assert not [name for name in names if name.startswith("training/preflight/stacks/")]
