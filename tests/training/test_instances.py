import gzip
import importlib.resources
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from training.errors import UsageError
from training.instances import (
    EXCLUDED_FAMILIES,
    INSTANCES,
    Instance,
    find_instance,
    known_instance,
)

# SageMaker's training types without an accelerator: none of these letters starts a GPU family.
CPU_FAMILY = re.compile(r"[cmrt]\d")


def sagemaker_training_types() -> list[str]:
    from botocore.loaders import Loader

    model = Loader().load_service_model("sagemaker", "service-2")
    names: list[str] = model["shapes"]["TrainingInstanceType"]["enum"]
    return [name.removeprefix("ml.") for name in names]


def described_types() -> dict[str, dict[str, Any]]:
    """What EC2's DescribeInstanceTypes answers, in moto's copy."""
    packed = importlib.resources.files("moto.ec2") / "resources" / "instance_types.json.gz"
    types: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes()))
    return types


def test_every_accelerated_type_that_sagemaker_trains_on_is_in_the_table_or_excluded():
    ours = {instance.name for instance in INSTANCES if instance.on_sagemaker}
    theirs = {
        name
        for name in sagemaker_training_types()
        if not CPU_FAMILY.match(name) and name.partition(".")[0] not in EXCLUDED_FAMILIES
    }
    assert ours == theirs


def test_excluded_families_are_ones_that_sagemaker_has():
    families = {name.partition(".")[0] for name in sagemaker_training_types()}
    assert set(EXCLUDED_FAMILIES) <= families


def test_table_agrees_with_what_ec2_describes():
    described = described_types()
    compared = [instance for instance in INSTANCES if instance.name in described]
    assert len(compared) >= 50
    for instance in compared:
        assert facts(instance) == described_facts(described[instance.name]), instance.name


def facts(instance: Instance) -> dict[str, Any]:
    return {
        "gpus": instance.gpus,
        "gpu_memory_mib": instance.gpu.memory_mib,
        "vcpus": instance.vcpus,
        "memory_gib": instance.memory_gib,
        "efa_interfaces": instance.efa_interfaces,
        "nvme_gb": instance.nvme_gb,
        "network_gbps": instance.network_gbps,
        "architecture": instance.architecture,
    }


def described_facts(described: dict[str, Any]) -> dict[str, Any]:
    (gpu,) = described["GpuInfo"]["Gpus"]
    network = described["NetworkInfo"]
    speed = re.fullmatch(r"(?:Up to )?(?:(\d+)x )?(\d+) Gigabit", network["NetworkPerformance"])
    assert speed is not None
    return {
        "gpus": gpu["Count"],
        "gpu_memory_mib": gpu["MemoryInfo"]["SizeInMiB"],
        "vcpus": described["VCpuInfo"]["DefaultVCpus"],
        "memory_gib": described["MemoryInfo"]["SizeInMiB"] // 1024,
        "efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "nvme_gb": described.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "network_gbps": int(speed[1] or 1) * int(speed[2]),
        "architecture": described["ProcessorInfo"]["SupportedArchitectures"][0],
    }


def test_names_are_unique():
    names = [instance.name for instance in INSTANCES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["p4d.24xlarge", "ml.p4d.24xlarge", " ML.P4D.24xlarge "])
def test_find_instance_takes_both_names(name: str):
    found = find_instance(name)
    assert (found.gpus, found.gpu.model, found.efa_interfaces) == (8, "A100", 4)
    assert found.sagemaker_name == "ml.p4d.24xlarge"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ml.p4d.24xlrge", "p4d.24xlarge"),
        ("g5.13xlarge", "g5.12xlarge"),
        ("m5.large", "no GPU instance type"),
        ("ml.trn1.2xlarge", "Trainium"),
        ("", "no GPU instance type"),
        ("p4d.24xlarge; rm -rf /", "no GPU instance type"),
    ],
)
def test_find_instance_refuses_an_unknown_name_and_helps(name: str, said: str):
    with pytest.raises(UsageError, match=said):
        find_instance(name)


def test_what_is_no_gpu_type_is_not_known():
    assert known_instance("ml.p4d.24xlarge") == find_instance("p4d.24xlarge")
    for name in ("ml.m5.large", "trn1.32xlarge", "local", ""):
        assert known_instance(name) is None


def test_a_type_that_sagemaker_lacks_has_no_sagemaker_name():
    with pytest.raises(UsageError, match="SageMaker does not train on it"):
        _ = find_instance("gr6.4xlarge").sagemaker_name


def test_v100_is_too_old_for_todays_torch_and_a100_is_not():
    assert find_instance("p3.16xlarge").gpu.compute_capability < (7, 5)
    assert find_instance("p4d.24xlarge").gpu.compute_capability >= (7, 5)


def test_gpu_memory_is_what_the_driver_shows():
    assert find_instance("g5.xlarge").gpu.memory_gib == 22.4
    assert find_instance("p5en.48xlarge").gpu.memory_gib == 141.0


def test_importing_the_table_imports_no_aws_sdk():
    heavy = ("boto3", "botocore", "sagemaker", "torch", "pydantic")
    code = f"import sys, training.instances; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
