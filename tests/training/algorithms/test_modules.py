"""What a platform asks of every algorithm."""

from __future__ import annotations

import dataclasses

import pytest

from training import algorithms
from training.instances import find_instance
from training.outputs import RegistryOutputs


@pytest.mark.parametrize(
    ("algorithm", "instances"),
    [
        ("horovod", ("p4d.24xlarge", 4)),
        ("tensorpack", ("p3.16xlarge", 4)),
        ("aws-samples", ("p3.16xlarge", 4)),
        ("tf2-smddp", ("p3dn.24xlarge", 2)),
    ],
)
def test_default_instances(algorithm: str, instances: tuple[str, int]) -> None:
    assert instances == algorithms.load(algorithm).DEFAULT_INSTANCES
    assert find_instance(instances[0]).on_sagemaker


@pytest.mark.parametrize("algorithm", algorithms.NAMES)
def test_each_has_a_repository_of_its_own_in_the_contract(algorithm: str) -> None:
    fields = {field.name for field in dataclasses.fields(RegistryOutputs)}
    assert algorithms.load(algorithm).REPOSITORY in fields
    repositories = [algorithms.load(name).REPOSITORY for name in algorithms.NAMES]
    assert len(set(repositories)) == len(repositories)


@pytest.mark.parametrize("algorithm", algorithms.NAMES)
def test_each_reads_cocos_splits_by_default(algorithm: str) -> None:
    module = algorithms.load(algorithm)
    assert module.splits(module.HYPERPARAMETERS()) == ["train2017", "val2017"]


@pytest.mark.parametrize(
    ("algorithm", "files"),
    [
        ("horovod", {}),
        ("tensorpack", {"backbone_weights": "ImageNet-R50-AlignPadding.npz"}),
        ("aws-samples", {"backbone_weights": "ImageNet-R50-AlignPadding.npz"}),
        ("tf2-smddp", {"checkpoint": "resnet-nhwc-2018-02-07/checkpoint"}),
    ],
)
def test_the_weights_that_each_begins_with(algorithm: str, files: dict[str, str]) -> None:
    module = algorithms.load(algorithm)
    assert module.weight_files(module.HYPERPARAMETERS()) == files


@pytest.mark.parametrize("algorithm", algorithms.NAMES)
def test_bad_annotations_stop_only_our_own_trainer(algorithm: str) -> None:
    module = algorithms.load(algorithm)
    expected = "stop" if algorithm == "horovod" else "skip"
    assert module.bad_annotations(module.HYPERPARAMETERS()) == expected
