from __future__ import annotations

from typing import get_args

import pytest

from training import algorithms
from training.algorithms.pairings import (
    DATA_SOURCES,
    PAIRINGS,
    check_pairing,
    right_instances,
)
from training.errors import UsageError
from training.instances import INSTANCES, find_instance
from training.job import DataSource

PLATFORMS = ("local", "sagemaker", "ec2", "eks")

# What runs where, written out: of every type, by EC2's names.
TURING_OR_NEWER = {
    *("g4dn.xlarge", "g4dn.2xlarge", "g4dn.4xlarge", "g4dn.8xlarge", "g4dn.12xlarge"),
    *("g4dn.16xlarge", "g4dn.metal", "g5.xlarge", "g5.2xlarge", "g5.4xlarge", "g5.8xlarge"),
    *("g5.12xlarge", "g5.16xlarge", "g5.24xlarge", "g5.48xlarge", "g6.xlarge", "g6.2xlarge"),
    *("g6.4xlarge", "g6.8xlarge", "g6.12xlarge", "g6.16xlarge", "g6.24xlarge", "g6.48xlarge"),
    *("g6e.xlarge", "g6e.2xlarge", "g6e.4xlarge", "g6e.8xlarge", "g6e.12xlarge", "g6e.16xlarge"),
    *("g6e.24xlarge", "g6e.48xlarge", "g7.2xlarge", "g7.4xlarge", "g7.8xlarge", "g7.12xlarge"),
    *("g7.24xlarge", "g7.48xlarge", "g7e.2xlarge", "g7e.4xlarge", "g7e.8xlarge", "g7e.12xlarge"),
    *("g7e.24xlarge", "g7e.48xlarge", "gr6.4xlarge", "gr6.8xlarge", "p4d.24xlarge"),
    *("p4de.24xlarge", "p5.4xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"),
    *("p6-b200.48xlarge", "p6-b300.48xlarge"),
}
V100_OR_T4 = {
    *("p3.2xlarge", "p3.8xlarge", "p3.16xlarge", "p3dn.24xlarge", "g4dn.xlarge", "g4dn.2xlarge"),
    *("g4dn.4xlarge", "g4dn.8xlarge", "g4dn.12xlarge", "g4dn.16xlarge", "g4dn.metal"),
}
SMDDP_TENSORFLOW = {"p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge"}
SMDDP_PYTORCH = {"p4d.24xlarge", "p4de.24xlarge"}
CLOUD = {"sagemaker", "ec2", "eks"}

TYPES = [instance.name for instance in INSTANCES]
SOME_TYPES = ["p2.xlarge", "p3.16xlarge", "p4d.24xlarge", "p5.48xlarge", "g4dn.xlarge", "g5.xlarge"]

EXPECTED = {
    ("horovod", "elastic"): ({"ec2", "eks"}, TURING_OR_NEWER),
    ("horovod", "mpi"): ({"local", *CLOUD}, TURING_OR_NEWER),
    ("horovod", "torchrun"): (CLOUD - {"eks"}, TURING_OR_NEWER),
    ("horovod", "smddp"): ({"sagemaker"}, SMDDP_PYTORCH),
    ("tensorpack", "mpi"): (CLOUD, V100_OR_T4),
    ("aws-samples", "mpi"): (CLOUD, V100_OR_T4),
    ("tf2-smddp", "smddp"): ({"sagemaker"}, SMDDP_TENSORFLOW),
}


def runs(algorithm: str, distribution: str, platform: str, source: str, instance: str) -> bool:
    try:
        check_pairing(
            algorithm=algorithm,
            platform=platform,
            data_source=source,
            instance=find_instance(instance),
            distribution=distribution,  # type: ignore[arg-type]
        )
    except UsageError:
        return False
    return True


def refusal(
    algorithm: str, platform: str, instance: str | None, distribution: str | None = None
) -> str:
    with pytest.raises(UsageError) as caught:
        check_pairing(
            algorithm=algorithm,
            platform=platform,
            data_source="efs",
            instance=None if instance is None else find_instance(instance),
            distribution=distribution,  # type: ignore[arg-type]
        )
    return str(caught.value)


@pytest.mark.parametrize("algorithm", algorithms.NAMES)
@pytest.mark.parametrize("distribution", get_args(algorithms.Distribution))
def test_every_cell_of_the_table(algorithm: str, distribution: str) -> None:
    platforms, types = EXPECTED.get((algorithm, distribution), (set(), set()))
    for platform in PLATFORMS:
        for source in DATA_SOURCES:
            names = TYPES if source == "efs" else SOME_TYPES
            ran = {name for name in names if runs(algorithm, distribution, platform, source, name)}
            right = types if platform in platforms else set()
            assert ran == right & set(names), (platform, source)


def test_the_data_sources_are_those_of_a_job() -> None:
    assert get_args(DataSource) == DATA_SOURCES


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [("horovod", "mpi"), ("tensorpack", "mpi"), ("aws-samples", "mpi"), ("tf2-smddp", "smddp")],
)
def test_the_default_distribution(algorithm: str, expected: str) -> None:
    row = check_pairing(
        algorithm=algorithm,
        platform="sagemaker",
        data_source="s3",
        instance=find_instance(algorithms.load(algorithm).DEFAULT_INSTANCES[0]),
    )
    assert row.distribution == expected


@pytest.mark.parametrize(("platform", "expected"), [("ec2", "elastic"), ("eks", "elastic")])
def test_our_default_is_elastic_where_nodes_may_be_lost_and_come(
    platform: str, expected: str
) -> None:
    row = check_pairing(
        algorithm="horovod",
        platform=platform,
        data_source="s3",
        instance=find_instance("p4d.24xlarge"),
    )
    assert row.distribution == expected


@pytest.mark.parametrize("algorithm", algorithms.NAMES)
def test_two_families_of_sagemaker_instances_run_each_algorithm(algorithm: str) -> None:
    (row, *_) = (row for row in PAIRINGS if row.algorithm == algorithm)
    names = right_instances(row, "sagemaker")
    assert len({name.rpartition(".")[0] for name in names}) >= 2
    assert all(name.startswith("ml.") for name in names)
    assert "ml.g4dn.metal" not in names


@pytest.mark.parametrize("distribution", [None, "mpi", "torchrun"])
def test_horovod_runs_on_this_machine_without_an_instance_type(distribution: str | None) -> None:
    row = check_pairing(
        algorithm="horovod",
        platform="sagemaker",
        data_source="s3",
        instance=None,
        distribution=distribution,  # type: ignore[arg-type]
    )
    assert row.distribution == (distribution or "mpi")


@pytest.mark.parametrize(
    ("algorithm", "platform", "instance", "distribution", "words"),
    [
        (
            "horovod", "sagemaker", "ml.p3.16xlarge", None,
            ["p3.16xlarge", "V100", "7.0", "torch 2.14.1", "7.5 or more", "ml.p4d", "ml.g5"],
        ),
        ("horovod", "sagemaker", "p6e-gb200.36xlarge", None, ["arm64", "x86_64", "ml.p6-b200"]),
        (
            "aws-samples", "ec2", "p4d.24xlarge", None,
            ["p4d.24xlarge", "A100", "CUDA 10.0", "V100 or T4", "families p3, p3dn, g4dn"],
        ),
        ("tensorpack", "sagemaker", None, None, ["local", "V100 or T4", "ml.p3"]),
        (
            "tensorpack", "local", None, None,
            ["platform local", "sagemaker, ec2 or eks", "on local run horovod"],
        ),
        ("tensorpack", "sagemaker", "p3.16xlarge", "smddp", ["smddp", "runs with mpi"]),
        (
            "tf2-smddp", "eks", "p4d.24xlarge", None,
            ["platform eks", "runs on sagemaker", "run horovod, tensorpack and aws-samples"],
        ),
        (
            "tf2-smddp", "sagemaker", "p5.48xlarge", None,
            ["p5.48xlarge", "SMDDP for TensorFlow", "ml.p3.16xlarge, ml.p3dn.24xlarge"],
        ),
        (
            "horovod", "sagemaker", "p5.48xlarge", "smddp",
            ["p5.48xlarge", "SMDDP for PyTorch", "Choose ml.p4d.24xlarge or ml.p4de.24xlarge"],
        ),
        ("horovod", "ec2", "p4d.24xlarge", "smddp", ["distribution smddp", "runs on sagemaker"]),
        ("horovod", "eks", "p4d.24xlarge", "torchrun", ["torchrun", "sagemaker or ec2"]),
        ("tensorpack", "ec2", "p3.16xlarge", "elastic", ["distribution elastic", "with mpi"]),
    ],
)  # fmt: skip
def test_a_refusal_names_what_was_given_and_what_is_right(
    algorithm: str, platform: str, instance: str | None, distribution: str | None, words: list[str]
) -> None:
    message = refusal(algorithm, platform, instance, distribution)
    assert algorithm in message
    for word in words:
        assert word in message


def test_what_torch_holds_code_for_is_what_the_table_says() -> None:
    torch = pytest.importorskip("torch")
    built_for = torch._C._cuda_getArchFlags()
    if not built_for:
        pytest.skip("this torch is built without CUDA")
    lowest = min(int(flag.removeprefix("sm_")) for flag in built_for.split())
    (row, *_) = (row for row in PAIRINGS if row.algorithm == "horovod")
    assert lowest == row.hardware.lowest_capability[0] * 10 + row.hardware.lowest_capability[1]
