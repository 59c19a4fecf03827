"""`python -m training.preflight` on a job, against a local AWS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, LocalAws
from training.data.manifest import Manifest
from training.layout import TRAIN_PATH

ACCOUNT, REGION = "123456789012", "us-east-1"
BUCKET = "preflight-of-a-job"

IMAGE = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/preflight/job"

# What local AWS lacks (on AWS these are answered), and what depends on the day.
ASIDE = {"check-not-answered", "price-old"}


def preflight(env: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "training.preflight", *map(str, arguments)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def findings(answer: subprocess.CompletedProcess[str]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(answer.stdout)["findings"]
    return found


def errors(answer: subprocess.CompletedProcess[str]) -> list[str]:
    return [each["code"] for each in findings(answer) if each["severity"] == "error"]


@pytest.fixture(scope="module")
def outputs_file(local_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a job needs, as the stacks would have made it."""
    ec2, efs = local_aws.client("ec2"), local_aws.client("efs")
    vpc_id = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    subnet_ids = [
        ec2.create_subnet(VpcId=vpc_id, CidrBlock=f"10.7.{n}.0/24", AvailabilityZone=zone)[
            "Subnet"
        ]["SubnetId"]
        for n, zone in enumerate(("us-east-1a", "us-east-1b"))
    ]
    jobs, targets = (
        ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc_id)["GroupId"]
        for name in ("jobs", "targets")
    )
    everything = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": jobs}]}]
    ec2.authorize_security_group_ingress(GroupId=jobs, IpPermissions=everything)
    ec2.authorize_security_group_egress(GroupId=jobs, IpPermissions=everything)
    ec2.authorize_security_group_ingress(GroupId=targets, IpPermissions=everything)
    efs_id = efs.create_file_system(CreationToken="job", Encrypted=True)["FileSystemId"]
    # One zone lacks its mount target.
    efs.create_mount_target(FileSystemId=efs_id, SubnetId=subnet_ids[0], SecurityGroups=[targets])
    key = local_aws.client("kms").create_key()["KeyMetadata"]["Arn"]
    _fill_bucket(local_aws)
    repository = _push_image(local_aws)
    outputs = {
        "NetworkStack": {
            "Project": "mask-rcnn",
            "VpcId": vpc_id,
            "PrivateSubnetIds": ",".join(subnet_ids),
            "AvailabilityZones": "us-east-1a,us-east-1b",
            "TrainingSecurityGroupId": jobs,
        },
        "StorageStack": {
            "BucketName": BUCKET,
            "EncryptionKeyArn": key,
            "EfsId": efs_id,
            "EfsSecurityGroupId": targets,
            "TrainingRoleArn": f"arn:aws:iam::{ACCOUNT}:role/training",
        },
        "RegistryStack": {
            f"{name}RepositoryUri": repository
            for name in ("Horovod", "Tensorpack", "AwsSamples", "Tf2Smddp")
        },
    }
    path = tmp_path_factory.mktemp("outputs") / "outputs.json"
    path.write_text(json.dumps(outputs))
    return path


def _fill_bucket(local_aws: LocalAws) -> None:
    s3 = local_aws.client("s3")
    place = {"CreateBucketConfiguration": {"LocationConstraint": local_aws.env["AWS_REGION"]}}
    is_home = local_aws.env["AWS_REGION"] == "us-east-1"
    s3.create_bucket(Bucket=BUCKET, **({} if is_home else place))
    for name in (
        "annotations/instances_train2017.json",
        "annotations/instances_val2017.json",
        "train2017/1.jpg",
        "val2017/2.jpg",
    ):
        s3.put_object(Bucket=BUCKET, Key=f"{TRAIN_PATH}/{name}")
    s3.put_object(Bucket=BUCKET, Key=f"{TRAIN_PATH}/manifest.json", Body=Manifest.of([]).to_bytes())


def _push_image(local_aws: LocalAws) -> str:
    ecr = local_aws.client("ecr")
    made = ecr.create_repository(repositoryName="preflight/job")
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"digest": "sha256:" + "1" * 64},
        "layers": [],
    }
    ecr.put_image(
        repositoryName="preflight/job",
        imageManifest=json.dumps(manifest),
        imageTag="first",
    )
    return str(made["repository"]["repositoryUri"])


@pytest.fixture
def env(local_aws: LocalAws) -> dict[str, str]:
    """The environment of a laptop, on which no file system is mounted."""
    found = local_aws.process_env()
    del found["MASK_RCNN_MOUNTS"]
    return found


JOB = (
    *("--platform", "sagemaker", "--instance-count", "2", "--format", "json"),
    *("--set", f"image={IMAGE}:first"),
)


def test_a_job_whose_things_are_all_there_has_no_finding(
    env: dict[str, str], outputs_file: Path
) -> None:
    answer = preflight(env, *JOB, "--data-source", "s3", "--outputs-file", outputs_file)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    assert (found["account"], found["region"]) == (ACCOUNT, REGION)
    assert found["checks"] >= 10
    assert {each["code"] for each in found["findings"]} <= ASIDE


def test_what_is_missing_is_found_all_at_once(env: dict[str, str], outputs_file: Path) -> None:
    answer = preflight(
        env,
        *JOB,
        *("--data-source", "efs", "--outputs-file", outputs_file),
        *("--set", "hyperparameters.backbone_weights=/home/me/weights.pth"),
        *("--set", f"image={IMAGE}:other"),
    )
    assert answer.returncode == 3
    assert errors(answer) == [
        "weights-outside-containers",
        "image-missing",
        "efs-mount-target-missing",
    ]
    assert "3 error(s) found: correct them before the launch" in answer.stderr


def test_findings_can_be_left_out_and_chosen(env: dict[str, str], outputs_file: Path) -> None:
    broken = (*JOB, "--data-source", "efs", "--outputs-file", outputs_file)
    left_out = preflight(env, *broken, "--suppress", "efs-mount-target-missing")
    assert left_out.returncode == 0, left_out.stdout
    only = preflight(env, *broken, "--only", "image-missing")
    assert only.returncode == 0
    assert json.loads(only.stdout)["checks"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stacks", "--platform", "sagemaker"], "--stacks checks the settings of the stacks"),
        (["-c", "fsx=none", "--platform", "local"], "-c fsx=none: a setting of the stacks is"),
        (["--algorithm", "horovod", "--resume"], "--resume: say which job goes on"),
        (["job.yaml"], "job.yaml: cannot be read"),
    ],
)
def test_wrong_usage_is_one_line_and_asks_nobody(arguments: list[str], message: str) -> None:
    unreachable = os.environ | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_REGION": REGION}
    answer = preflight(unreachable, *arguments)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.stdout == ""


def test_where_nobody_answers_it_ends_with_4_and_one_line(
    env: dict[str, str], outputs_file: Path
) -> None:
    nowhere = env | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    answer = preflight(nowhere, *JOB, "--data-source", "s3", "--outputs-file", outputs_file)
    assert answer.returncode == 4
    assert answer.stderr.startswith("error: http://127.0.0.1:9: no local AWS answers.")
    assert answer.stdout == ""
