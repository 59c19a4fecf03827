"""THE table of what runs where: algorithm, platform, data source and instance type.

Sources of the limits:

- `horovod`: PyPI's torch 2.14.1 (CUDA 13.0) holds code for sm_75, 80, 86, 90, 100 and 120, as
  `torch._C._cuda_getArchFlags()` says, so that a GPU needs compute capability 7.5 or more.
- `aws-samples`: TensorFlow 1.15 on CUDA 10.0, which compiles for GPUs up to Turing
  (7.5, T4); what is compiled for 7.x runs on GPUs of that major version alone:
  https://docs.nvidia.com/cuda/turing-compatibility-guide
- `tensorpack`: the original's GPUs. Its image (TensorFlow 2.15.1, CUDA 12.2) may run on newer ones;
  they wait until it has been seen to train on one.
- SMDDP's instance types, PyTorch and TensorFlow versions:
  https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-data-parallel-support.html and
  https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-release-notes.html. For TensorFlow,
  which that page lists as deprecated, its state of June 2023 and the SageMaker SDK's
  `SM_DATAPARALLEL_SUPPORTED_INSTANCE_TYPES` (2.257, fw_utils.py) name the same four types.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from training.algorithms import Distribution
from training.errors import UsageError
from training.instances import INSTANCES, T4, V100, V100_32GB, Gpu, Instance

DATA_SOURCES = ("s3", "efs", "fsx")

_CLOUD = ("sagemaker", "ec2", "eks")


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Which instances can run an image."""

    reason: str
    """What the image was built with, as a clause: `its … needs …`."""
    gpus: tuple[Gpu, ...] = ()
    """These models only; empty is any."""
    lowest_capability: tuple[int, int] = (0, 0)
    instance_types: tuple[str, ...] = ()
    """These types only, by EC2's names; empty is any."""
    here: bool = False
    """Whether it also runs on this machine, which may have no GPU."""

    def takes(self, instance: Instance) -> bool:
        return (
            instance.architecture == "x86_64"
            and (not self.gpus or instance.gpu in self.gpus)
            and instance.gpu.compute_capability >= self.lowest_capability
            and (not self.instance_types or instance.name in self.instance_types)
        )


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """A row: one algorithm with one way of starting and joining its processes."""

    algorithm: str
    distribution: Distribution
    platforms: tuple[str, ...]
    hardware: Hardware
    software: str
    """What its image must hold."""
    data_sources: tuple[str, ...] = field(default=DATA_SOURCES)


_PYPI_TORCH = Hardware(
    reason="PyPI's torch 2.14.1 needs x86_64 and a GPU of compute capability 7.5 or more",
    lowest_capability=(7, 5),
    here=True,
)
_CUDA_10 = Hardware(
    reason="its TensorFlow 1.15 with CUDA 10.0 needs a V100 or T4", gpus=(V100, V100_32GB, T4)
)

_ORIGINAL = Hardware(
    reason="it is offered on the original's GPUs alone: V100 or T4", gpus=(V100, V100_32GB, T4)
)

PAIRINGS = (
    Pairing(
        algorithm="horovod",
        distribution="elastic",
        platforms=("ec2", "eks"),
        hardware=_PYPI_TORCH,
        software="torch 2.14.1, Horovod 0.28.1",
    ),
    Pairing(
        algorithm="horovod",
        distribution="mpi",
        platforms=("local", *_CLOUD),
        hardware=_PYPI_TORCH,
        software="torch 2.14.1, Horovod 0.28.1",
    ),
    Pairing(
        algorithm="horovod",
        distribution="torchrun",
        platforms=("sagemaker", "ec2"),
        hardware=_PYPI_TORCH,
        software="torch 2.14.1",
    ),
    Pairing(
        algorithm="horovod",
        distribution="smddp",
        platforms=("sagemaker",),
        hardware=Hardware(
            reason="SMDDP for PyTorch supports only these types",
            instance_types=("p4d.24xlarge", "p4de.24xlarge"),
        ),
        software="torch 2.4.1 or older with smdistributed-dataparallel 2.5.0 or older",
    ),
    Pairing(
        algorithm="tensorpack",
        distribution="mpi",
        platforms=_CLOUD,
        hardware=_ORIGINAL,
        software="TensorFlow 2.15.1, CUDA 12.2, Horovod 0.28.1",
    ),
    Pairing(
        algorithm="aws-samples",
        distribution="mpi",
        platforms=_CLOUD,
        hardware=_CUDA_10,
        software="the Deep Learning Container of TensorFlow 1.15.2, which has its operations",
    ),
    Pairing(
        algorithm="tf2-smddp",
        distribution="smddp",
        platforms=("sagemaker",),
        hardware=Hardware(
            reason="SMDDP for TensorFlow supports only these types",
            instance_types=("p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge"),
        ),
        software="a Deep Learning Container for SageMaker of TensorFlow 2.3.1 to 2.11.0",
    ),
)
"""Of an algorithm's rows for a platform, the first has its default distribution there."""


def check_pairing(
    *,
    algorithm: str,
    platform: str,
    data_source: str,
    instance: Instance | None,
    distribution: Distribution | None = None,
    without_gpu: str = "local",
) -> Pairing:
    """Return the row of the table for a job.

    Args:
        instance: None where the job runs on this machine, in containers or not, or on instances
            without GPU.
        distribution: None takes the algorithm's default on the platform.
        without_gpu: What the instance type is called where `instance` is None.

    Raises:
        UsageError: There is none. The message names what was given and what would be right.
    """
    rows = _rows(algorithm)
    default = next((r for r in rows if platform in r.platforms), rows[0])
    row = next((r for r in rows if r.distribution == (distribution or default.distribution)), None)
    if row is None:
        raise UsageError(
            f"distribution {distribution}: algorithm {algorithm} does not run with it; "
            f"it runs with {_either([r.distribution for r in rows])}"
        )
    _check_platform(row, platform)
    if data_source not in row.data_sources:
        raise UsageError(
            f"data source {data_source}: algorithm {algorithm} does not read from it; "
            f"it reads from {_either(row.data_sources)}"
        )
    _check_instance(row, platform, instance, without_gpu)
    return row


def right_instances(row: Pairing, platform: str) -> list[str]:
    """Return the types that a row runs on, as the platform names them."""
    instances = [instance for instance in INSTANCES if row.hardware.takes(instance)]
    if platform != "sagemaker":
        return [instance.name for instance in instances]
    return [instance.sagemaker_name for instance in instances if instance.on_sagemaker]


def _check_platform(row: Pairing, platform: str) -> None:
    if platform in row.platforms:
        return
    with_it = f" with distribution {row.distribution}" if len(_rows(row.algorithm)) > 1 else ""
    others = [
        other.algorithm
        for other in PAIRINGS
        if platform in other.platforms and other.algorithm != row.algorithm
    ]
    there = f"; on {platform} run {_either(dict.fromkeys(others), 'and')}" if others else ""
    raise UsageError(
        f"platform {platform}: algorithm {row.algorithm}{with_it} does not run there; "
        f"it runs on {_either(row.platforms)}{there}"
    )


def _check_instance(
    row: Pairing, platform: str, instance: Instance | None, without_gpu: str
) -> None:
    hardware = row.hardware
    if instance is None:
        if hardware.here:
            return
        where = "on this machine" if without_gpu == "local" else "without GPU"
        raise UsageError(
            f"instance type {without_gpu}: algorithm {row.algorithm} does not run {where}: "
            f"{hardware.reason}. {_choose(row, platform)}"
        )
    if hardware.takes(instance):
        return
    major, minor = instance.gpu.compute_capability
    raise UsageError(
        f"instance type {instance.name} ({instance.architecture}, {instance.gpu.model}, compute "
        f"capability {major}.{minor}): algorithm {row.algorithm} with distribution "
        f"{row.distribution} does not run on it: {hardware.reason}. {_choose(row, platform)}"
    )


def _choose(row: Pairing, platform: str) -> str:
    """Say which types are right: all of them where they are few, else their families."""
    names = right_instances(row, platform)
    if len(names) <= 6:
        return f"Choose {_either(names)}"
    families = dict.fromkeys(name.rpartition(".")[0] for name in names)
    return f"Choose a type of the families {', '.join(families)}"


def _rows(algorithm: str) -> list[Pairing]:
    rows = [row for row in PAIRINGS if row.algorithm == algorithm]
    assert rows, algorithm
    return rows


def _either(names: Iterable[str], last: str = "or") -> str:
    listed = list(names)
    return f" {last} ".join([", ".join(listed[:-1]), listed[-1]] if listed[1:] else listed)
