"""Plans of the platform `sagemaker`: the exact requests, judged by AWS's own rules."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.conftest import LocalAws
from tests.training.platforms.sagemaker.planning import (
    ACCOUNT,
    IMAGE,
    KEY_ARN,
    STACKS,
    SUBNETS,
    body,
    launch,
    make_job,
    outputs,
    plan,
)
from tests.training.platforms.sagemaker.service_model import complaints
from training.errors import UsageError
from training.instances import INSTANCES
from training.outputs import Outputs
from training.platforms.common.image import image_variant

PROJECT = Path(__file__).resolve().parents[4]

TYPES = {
    "horovod": ("p4d.24xlarge", "g5.48xlarge"),
    "tensorpack": ("p3.16xlarge", "g4dn.12xlarge"),
    "aws-samples": ("p3dn.24xlarge", "g4dn.12xlarge"),
    "tf2-smddp": ("p3dn.24xlarge", "p4d.24xlarge"),
}
"""Of two families each, among those that the table of pairings allows."""

SOURCES = ("s3", "efs", "fsx")

PLANS = [
    pytest.param(algorithm, source, kind, id=f"{algorithm}-{source}-{kind.partition('.')[0]}")
    for algorithm, source in product(TYPES, SOURCES)
    for kind in TYPES[algorithm]
]

every_plan = pytest.mark.parametrize(("algorithm", "source", "kind"), PLANS)


def planned(algorithm: str, source: str, kind: str, **more: Any) -> dict[str, Any]:
    return body(algorithm=algorithm, data_source=source, instances__type=kind, **more)


@every_plan
def test_a_plan_is_as_last_looked_at(
    algorithm: str, source: str, kind: str, snapshot: SnapshotAssertion
) -> None:
    found = planned(algorithm, source, kind)
    assert found == snapshot(extension_class=JSONSnapshotExtension)


@every_plan
def test_a_plan_keeps_every_rule_of_the_service_model(
    algorithm: str, source: str, kind: str
) -> None:
    assert complaints(planned(algorithm, source, kind)) == []


@pytest.fixture(scope="module")
def sagemaker(local_aws: LocalAws) -> Any:
    return local_aws.client("sagemaker")


@every_plan
def test_a_planned_job_is_made_described_and_stopped(
    algorithm: str, source: str, kind: str, sagemaker: Any
) -> None:
    name = f"plan-{algorithm}-{source}-{kind.partition('.')[0]}"
    request = planned(algorithm, source, kind, name=name)
    arn = sagemaker.create_training_job(**request)["TrainingJobArn"]
    described = sagemaker.describe_training_job(TrainingJobName=name)
    assert {key: described.get(key) for key in request if key != "Tags"} == {
        key: value for key, value in request.items() if key != "Tags"
    }
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == request["Tags"]
    sagemaker.stop_training_job(TrainingJobName=name)
    stopped = sagemaker.describe_training_job(TrainingJobName=name)
    assert stopped["TrainingJobStatus"] in {"Stopping", "Stopped"}


@mock_aws
def test_every_planned_job_is_taken_by_moto_as_it_comes() -> None:
    """In this process, without what local AWS adds to it."""
    sagemaker = boto3.client(
        "sagemaker",
        region_name="us-west-2",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    kept = (
        "HyperParameters",
        "InputDataConfig",
        "OutputDataConfig",
        "ResourceConfig",
        "RoleArn",
        "StoppingCondition",
        "VpcConfig",
    )
    for number, (algorithm, source) in enumerate(product(TYPES, SOURCES)):
        for kind in TYPES[algorithm]:
            name = f"job-{number}-{kind.partition('.')[0]}"
            request = planned(algorithm, source, kind, name=name)
            sagemaker.create_training_job(**request)
            described = sagemaker.describe_training_job(TrainingJobName=name)
            assert {key: described[key] for key in kept} == {key: request[key] for key in kept}


@pytest.mark.parametrize("algorithm", TYPES)
def test_another_data_source_changes_channels_and_what_follows_from_them(algorithm: str) -> None:
    follows = {
        "InputDataConfig", "CheckpointConfig", "VpcConfig", "TrainingJobName", "Tags", "Environment"
    }  # fmt: skip
    first, *others = (body(algorithm=algorithm, data_source=source) for source in SOURCES)
    for other in others:
        keys = first.keys() | other.keys()
        assert {key for key in keys if first.get(key) != other.get(key)} <= follows


def test_the_defaults_are_those_of_the_algorithm() -> None:
    kinds = {
        algorithm: (config["InstanceType"], config["InstanceCount"])
        for algorithm in TYPES
        for config in [body(algorithm=algorithm)["ResourceConfig"]]
    }
    assert kinds == {
        "horovod": ("ml.p4d.24xlarge", 4),
        "tensorpack": ("ml.p3.16xlarge", 4),
        "aws-samples": ("ml.p3.16xlarge", 4),
        "tf2-smddp": ("ml.p3dn.24xlarge", 2),
    }


@pytest.mark.parametrize("written", ["p4d.24xlarge", "ml.p4d.24xlarge", " ML.P4D.24XLARGE"])
def test_the_prefix_of_an_instance_type_is_optional(written: str) -> None:
    assert body(instances__type=written)["ResourceConfig"]["InstanceType"] == "ml.p4d.24xlarge"


@pytest.mark.parametrize(
    "kind",
    [each.name for each in INSTANCES if each.on_sagemaker and each.architecture == "x86_64"],
)
def test_every_gpu_type_that_sagemaker_has_gives_a_valid_request_or_names_others(kind: str) -> None:
    nvme = next(each.nvme_gb for each in INSTANCES if each.name == kind)
    for algorithm in TYPES:
        try:
            found = planned(algorithm, "efs", kind)
        except UsageError as error:
            assert "Choose" in str(error)
            continue
        assert complaints(found) == []
        # EBS, and a key for it, only where there is no disk of the instance's own.
        assert ("VolumeSizeInGB" in found["ResourceConfig"]) is (nvme == 0)
        assert ("VolumeKmsKeyId" in found["ResourceConfig"]) is (nvme == 0)


def test_a_wrong_pairing_names_the_right_types() -> None:
    with pytest.raises(UsageError, match=r"Choose .*ml\.p3\.16xlarge") as raised:
        body(algorithm="tf2-smddp", instances__type="g5.48xlarge")
    assert "g5.48xlarge" in str(raised.value)


def test_ebs_is_of_the_size_and_key_that_are_wanted() -> None:
    found = body(algorithm="tensorpack", sagemaker__volume_gib=250)
    assert found["ResourceConfig"] == {
        "InstanceType": "ml.p3.16xlarge",
        "InstanceCount": 4,
        "VolumeSizeInGB": 250,
        "VolumeKmsKeyId": KEY_ARN,
    }


def test_warm_pool_and_training_plan_are_part_of_the_resources() -> None:
    arn = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/mine-1"
    found = body(sagemaker__keep_alive_s=600, sagemaker__training_plan_arn=arn)
    assert found["ResourceConfig"]["KeepAlivePeriodInSeconds"] == 600
    assert found["ResourceConfig"]["TrainingPlanArn"] == arn
    assert complaints(found) == []


@pytest.mark.parametrize(
    ("source", "place"),
    [("s3", "log-job-1"), ("efs", "job-1/checkpoints"), ("fsx", "job-1/checkpoints")],
)
def test_spot_always_comes_with_a_place_for_checkpoints(source: str, place: str) -> None:
    found = body(data_source=source, spot__enabled=True, name="job-1")
    assert found["EnableManagedSpotTraining"] is True
    assert found["StoppingCondition"] == {
        "MaxRuntimeInSeconds": 400_000,
        "MaxWaitTimeInSeconds": 486_400,
    }
    assert found["CheckpointConfig"] == {
        "S3Uri": f"s3://bucket/mask-rcnn/sagemaker/output/{place}",
        "LocalPath": "/opt/ml/checkpoints",
    }
    assert complaints(found) == []


def test_every_option_together_is_a_valid_request() -> None:
    found = body(
        algorithm="tensorpack",
        data_source="fsx",
        retries=30,
        environment={"NCCL_DEBUG": "INFO", "TEXT": "two\nlines"},
        tags={"Team": "vision + co"},
        sagemaker__encrypt_traffic=True,
        sagemaker__network_isolation=True,
        sagemaker__experiment="mask-rcnn",
        sagemaker__health_checks=True,
        sagemaker__keep_alive_s=3600,
    )
    assert found["RetryStrategy"] == {"MaximumRetryAttempts": 30}
    assert found["EnableInterContainerTrafficEncryption"] is True
    assert found["EnableNetworkIsolation"] is True
    assert found["ExperimentConfig"]["ExperimentName"] == "mask-rcnn"
    assert found["InfraCheckConfig"] == {"EnableInfraCheck": True}
    assert found["VpcConfig"]["Subnets"] == [SUBNETS[1]]
    assert found["Environment"]["TEXT"] == "two\nlines"
    assert complaints(found) == []


def test_flags_that_are_not_wanted_are_not_sent() -> None:
    absent = {
        "EnableManagedSpotTraining", "EnableNetworkIsolation", "RetryStrategy",
        "EnableInterContainerTrafficEncryption", "ExperimentConfig", "InfraCheckConfig",
    }  # fmt: skip
    assert absent & body().keys() == set()


def test_without_tensorboard_nothing_of_it_is_asked_for() -> None:
    found = body(sagemaker__tensorboard=False)
    assert "TensorBoardOutputConfig" not in found
    assert "MASK_RCNN_TENSORBOARD" not in found["Environment"]


def test_a_job_on_this_machine_is_the_same_request_for_local() -> None:
    on_aws = body(data_source="efs", name="job-1", instances__type="p4d.24xlarge")
    here = plan(data_source="efs", name="job-1", instances__type="local", instances__count=2)
    found = here.request.to_json()
    assert found["ResourceConfig"] == {"InstanceType": "local", "InstanceCount": 2}
    assert found["Environment"]["MASK_RCNN_PROCESSES_PER_HOST"] == "1"
    for key in ("HyperParameters", "InputDataConfig", "AlgorithmSpecification"):
        assert found[key] == on_aws[key]
    assert here.before == ()
    assert here.cost.maximum == 0


def test_a_local_job_has_a_process_for_each_gpu() -> None:
    found = plan(launched=launch(gpus=2), instances__type="local").request.to_json()
    assert found["Environment"]["MASK_RCNN_PROCESSES_PER_HOST"] == "2"
    assert found["ResourceConfig"]["InstanceCount"] == 1


def test_a_price_that_is_not_known_is_unknown_and_never_nothing() -> None:
    nowhere = outputs(EncryptionKeyArn=KEY_ARN.replace("us-west-2", "mars-north-1"))
    cost = plan(stacks=nowhere).cost
    assert (cost.per_hour, cost.maximum) == (None, None)
    assert "no price of ml.p4d.24xlarge in mars-north-1 is known" in cost.assumptions[0]


def test_the_learning_rate_is_worked_out_for_all_gpus() -> None:
    rates = plan(algorithm="tensorpack").learning_rates
    assert rates is not None
    assert rates.global_batch_size == 32


def test_the_same_input_gives_the_same_plan_as_plain_json() -> None:
    first, second = plan(data_source="efs"), plan(data_source="efs")
    assert first == second
    assert json.loads(json.dumps(first.request.to_json())) == first.request.to_json()


def test_the_image_is_that_of_these_sources_in_the_algorithms_repository() -> None:
    from training.images.tag import image_tag

    found = body(image=None, algorithm="aws-samples")["AlgorithmSpecification"]["TrainingImage"]
    repository = STACKS["RegistryStack"]["AwsSamplesRepositoryUri"]
    assert found == f"{repository}:{image_tag('aws-samples')}"
    assert body()["AlgorithmSpecification"]["TrainingImage"] == IMAGE


def test_a_job_with_smddp_takes_the_image_that_has_the_library() -> None:
    from training.images.tag import image_tag

    def image_of(**options: Any) -> str:
        found = body(image=None, sagemaker__distribution="smddp", **options)
        return str(found["AlgorithmSpecification"]["TrainingImage"])

    stack = STACKS["RegistryStack"]
    tag = image_tag("horovod", variant="smddp")
    assert tag.endswith("-smddp")
    assert image_of() == f"{stack['HorovodRepositoryUri']}:{tag}"
    tensorflow: dict[str, Any] = {"algorithm": "tf2-smddp", "instances__type": "p4d.24xlarge"}
    assert image_of(**tensorflow) == f"{stack['Tf2SmddpRepositoryUri']}:{image_tag('tf2-smddp')}"


def test_what_is_said_of_sagemaker_is_of_no_other_platform() -> None:
    wanted: dict[str, Any] = {"sagemaker__distribution": "smddp"}
    assert image_variant(make_job(**wanted).spec) == "smddp"
    elsewhere = make_job(**wanted).spec.model_copy(update={"platform": "ec2"})
    assert image_variant(elsewhere) == "gpu"


def test_a_job_on_this_machine_needs_no_registry() -> None:
    from training.images.tag import local_name

    there = {name: stack for name, stack in STACKS.items() if name != "RegistryStack"}
    found = body(stacks=Outputs(there, source="outputs.json"), image=None, instances__type="local")
    assert found["AlgorithmSpecification"]["TrainingImage"] == local_name("horovod")


def test_a_stack_that_is_missing_is_named_with_what_deploys_it() -> None:
    there = {name: stack for name, stack in STACKS.items() if name != "NetworkStack"}
    with pytest.raises(UsageError, match=r"Deploy it: cdk deploy NetworkStack"):
        plan(stacks=Outputs(there, source="outputs.json"))


def test_a_plan_prints_without_what_is_slow(tmp_path: Path) -> None:
    (tmp_path / "outputs.json").write_text(json.dumps(STACKS))
    script = (
        "import sys\n"
        "from training.launch import app\n"
        "try:\n"
        "    app(sys.argv[1:])\n"
        "finally:\n"
        "    slow = ('boto3', 'botocore', 'sagemaker', 'torch', 'numpy', 'PIL')\n"
        "    print([name for name in slow if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", script, "--platform", "sagemaker", "--dry-run"),
            *("--outputs-file", str(tmp_path / "outputs.json"), "--format", "json"),
        ],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "[]"
    assert json.loads(done.stdout)["request"]["ResourceConfig"]["InstanceCount"] == 4
