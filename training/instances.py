"""The GPU instance types that a job may run on: one table, for plans, checks and costs.

Where the figures come from:

- EC2's DescribeInstanceTypes, for every type that it still lists. GPU memory is GpuInfo's, so it
  is what the driver shows: a 24 GB A10G counts 22,888 MiB. A test compares the table with the copy
  of that answer which moto ships.
- P3: https://docs.aws.amazon.com/ec2/latest/instancetypes/pg.html
- P2: https://docs.aws.amazon.com/batch/latest/userguide/gpu-jobs.html
- P6e-GB200: https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html
- Compute capability: https://developer.nvidia.com/cuda-gpus and its page of legacy GPUs.

A figure that these do not give is None.

Left out, for they cannot run the images of this project: G4ad (AMD GPUs), G5g (Graviton with T4g),
G6f and Gr6f (a fraction of a GPU), and what `EXCLUDED_FAMILIES` names.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from training.errors import UsageError

Architecture = Literal["x86_64", "arm64"]


@dataclass(frozen=True)
class Gpu:
    """A model of GPU as EC2 offers it."""

    model: str
    memory_mib: int
    compute_capability: tuple[int, int]
    """(7, 0) is sm_70: what a build of PyTorch must hold code for."""

    @property
    def memory_gib(self) -> float:
        return round(self.memory_mib / 1024, 1)


@dataclass(frozen=True)
class Instance:
    """A GPU instance type."""

    name: str
    """EC2's name, such as `p4d.24xlarge`."""
    gpus: int
    gpu: Gpu
    vcpus: int
    memory_gib: int
    efa_interfaces: int | None
    """Elastic Fabric Adapters at most; 0 where the type has none."""
    nvme_gb: int
    """Local NVMe in decimal gigabytes, as EC2 reports it; 0 where the type has none."""
    network_gbps: int | None
    """All network cards together; of types that burst, the burst."""
    on_sagemaker: bool = True
    """Whether SageMaker's CreateTrainingJob takes it."""
    architecture: Architecture = "x86_64"

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]

    @property
    def sagemaker_name(self) -> str:
        """SageMaker's name of the type.

        Raises:
            UsageError: SageMaker trains on no such type.
        """
        if not self.on_sagemaker:
            raise UsageError(
                f"instance type {self.name}: SageMaker does not train on it; "
                "use it on ec2 or eks, or choose another type"
            )
        return f"ml.{self.name}"


K80 = Gpu("K80", 12288, (3, 7))
V100 = Gpu("V100", 16384, (7, 0))
V100_32GB = Gpu("V100 32 GB", 32768, (7, 0))
T4 = Gpu("T4", 16384, (7, 5))
A10G = Gpu("A10G", 22888, (8, 6))
A100 = Gpu("A100", 40960, (8, 0))
A100_80GB = Gpu("A100 80 GB", 81920, (8, 0))
L4 = Gpu("L4", 22888, (8, 9))
L40S = Gpu("L40S", 45776, (8, 9))
H100 = Gpu("H100", 81920, (9, 0))
H200 = Gpu("H200", 144384, (9, 0))
B200 = Gpu("B200", 183359, (10, 0))
GB200 = Gpu("GB200", 185 * 1024, (10, 0))
B300 = Gpu("B300", 275040, (10, 3))
RTX_PRO_4500 = Gpu("RTX PRO 4500", 32768, (12, 0))
RTX_PRO_6000 = Gpu("RTX PRO 6000", 98304, (12, 0))

# name, GPUs, GPU, vCPUs, memory GiB, EFA interfaces, NVMe GB, network Gbit/s
INSTANCES: tuple[Instance, ...] = (
    Instance("p2.xlarge", 1, K80, 4, 61, 0, 0, None),
    Instance("p2.8xlarge", 8, K80, 32, 488, 0, 0, 10),
    Instance("p2.16xlarge", 16, K80, 64, 732, 0, 0, 20),
    Instance("p3.2xlarge", 1, V100, 8, 61, 0, 0, 10),
    Instance("p3.8xlarge", 4, V100, 32, 244, 0, 0, 10),
    Instance("p3.16xlarge", 8, V100, 64, 488, 0, 0, 25),
    Instance("p3dn.24xlarge", 8, V100_32GB, 96, 768, 1, 1800, 100),
    Instance("p4d.24xlarge", 8, A100, 96, 1152, 4, 8000, 400),
    Instance("p4de.24xlarge", 8, A100_80GB, 96, 1152, 4, 8000, 400),
    Instance("p5.4xlarge", 1, H100, 16, 256, 1, 3800, 100),
    Instance("p5.48xlarge", 8, H100, 192, 2048, 32, 30400, 3200),
    Instance("p5e.48xlarge", 8, H200, 192, 2048, 32, 30400, 3200),
    Instance("p5en.48xlarge", 8, H200, 192, 2048, 16, 30400, 3200),
    Instance("p6-b200.48xlarge", 8, B200, 192, 2048, 8, 30400, 3200),
    Instance("p6-b300.48xlarge", 8, B300, 192, 4096, 16, 30400, 6400),
    Instance("p6e-gb200.36xlarge", 4, GB200, 144, 960, None, 22500, 3200, architecture="arm64"),
    Instance("g4dn.xlarge", 1, T4, 4, 16, 0, 125, 25),
    Instance("g4dn.2xlarge", 1, T4, 8, 32, 0, 225, 25),
    Instance("g4dn.4xlarge", 1, T4, 16, 64, 0, 225, 25),
    Instance("g4dn.8xlarge", 1, T4, 32, 128, 1, 900, 50),
    Instance("g4dn.12xlarge", 4, T4, 48, 192, 1, 900, 50),
    Instance("g4dn.16xlarge", 1, T4, 64, 256, 1, 900, 50),
    Instance("g4dn.metal", 8, T4, 96, 384, 1, 1800, 100, on_sagemaker=False),
    Instance("g5.xlarge", 1, A10G, 4, 16, 0, 250, 10),
    Instance("g5.2xlarge", 1, A10G, 8, 32, 0, 450, 10),
    Instance("g5.4xlarge", 1, A10G, 16, 64, 0, 600, 25),
    Instance("g5.8xlarge", 1, A10G, 32, 128, 1, 900, 25),
    Instance("g5.12xlarge", 4, A10G, 48, 192, 1, 3800, 40),
    Instance("g5.16xlarge", 1, A10G, 64, 256, 1, 1900, 25),
    Instance("g5.24xlarge", 4, A10G, 96, 384, 1, 3800, 50),
    Instance("g5.48xlarge", 8, A10G, 192, 768, 1, 7600, 100),
    Instance("g6.xlarge", 1, L4, 4, 16, 0, 250, 10),
    Instance("g6.2xlarge", 1, L4, 8, 32, 0, 450, 10),
    Instance("g6.4xlarge", 1, L4, 16, 64, 0, 600, 25),
    Instance("g6.8xlarge", 1, L4, 32, 128, 1, 900, 25),
    Instance("g6.12xlarge", 4, L4, 48, 192, 1, 3760, 40),
    Instance("g6.16xlarge", 1, L4, 64, 256, 1, 1880, 25),
    Instance("g6.24xlarge", 4, L4, 96, 384, 1, 3760, 50),
    Instance("g6.48xlarge", 8, L4, 192, 768, 1, 7520, 100),
    Instance("g6e.xlarge", 1, L40S, 4, 32, 0, 250, 20),
    Instance("g6e.2xlarge", 1, L40S, 8, 64, 0, 450, 20),
    Instance("g6e.4xlarge", 1, L40S, 16, 128, 0, 600, 20),
    Instance("g6e.8xlarge", 1, L40S, 32, 256, 1, 900, 25),
    Instance("g6e.12xlarge", 4, L40S, 48, 384, 1, 3800, 100),
    Instance("g6e.16xlarge", 1, L40S, 64, 512, 1, 1900, 35),
    Instance("g6e.24xlarge", 4, L40S, 96, 768, 2, 3800, 200),
    Instance("g6e.48xlarge", 8, L40S, 192, 1536, 4, 7600, 400),
    Instance("g7.2xlarge", 1, RTX_PRO_4500, 8, 32, 0, 440, 60),
    Instance("g7.4xlarge", 1, RTX_PRO_4500, 16, 64, 0, 875, 100),
    Instance("g7.8xlarge", 1, RTX_PRO_4500, 32, 128, 1, 930, 100),
    Instance("g7.12xlarge", 2, RTX_PRO_4500, 48, 192, 1, 1900, 175),
    Instance("g7.24xlarge", 4, RTX_PRO_4500, 96, 384, 1, 3800, 350),
    Instance("g7.48xlarge", 8, RTX_PRO_4500, 192, 768, 2, 7600, 700),
    Instance("g7e.2xlarge", 1, RTX_PRO_6000, 8, 64, 0, 1900, 50),
    Instance("g7e.4xlarge", 1, RTX_PRO_6000, 16, 128, 0, 1900, 50),
    Instance("g7e.8xlarge", 1, RTX_PRO_6000, 32, 256, 1, 1900, 100),
    Instance("g7e.12xlarge", 2, RTX_PRO_6000, 48, 512, 1, 3800, 400),
    Instance("g7e.24xlarge", 4, RTX_PRO_6000, 96, 1024, 2, 7600, 800),
    Instance("g7e.48xlarge", 8, RTX_PRO_6000, 192, 2048, 4, 15200, 1600),
    Instance("gr6.4xlarge", 1, L4, 16, 128, 0, 600, 25, on_sagemaker=False),
    Instance("gr6.8xlarge", 1, L4, 32, 256, 1, 900, 25, on_sagemaker=False),
)

EXCLUDED_FAMILIES = {
    "trn1": "AWS Trainium is no GPU: it needs models compiled by the Neuron SDK",
    "trn1n": "AWS Trainium is no GPU: it needs models compiled by the Neuron SDK",
    "trn2": "AWS Trainium is no GPU: it needs models compiled by the Neuron SDK",
}
"""Accelerated families that SageMaker trains on and this project does not, with the reason."""

_BY_NAME = {instance.name: instance for instance in INSTANCES}


def find_instance(name: str) -> Instance:
    """Return the instance type of a name, EC2's (`p4d.24xlarge`) or SageMaker's (`ml.…`).

    Raises:
        UsageError: There is no GPU instance type of that name.
    """
    ec2_name = _ec2_name(name)
    if ec2_name in _BY_NAME:
        return _BY_NAME[ec2_name]
    family = ec2_name.partition(".")[0]
    if family in EXCLUDED_FAMILIES:
        raise UsageError(f"instance type {name}: {EXCLUDED_FAMILIES[family]}. Choose a GPU type")
    raise UsageError(f"instance type {name}: no GPU instance type of that name. {_hint(ec2_name)}")


def known_instance(name: str) -> Instance | None:
    """Return the instance type of such a name; None where there is none, as without GPU."""
    return _BY_NAME.get(_ec2_name(name))


def _ec2_name(name: str) -> str:
    return name.strip().lower().removeprefix("ml.")


def _hint(ec2_name: str) -> str:
    """Say which names come close, else which families there are."""
    close = difflib.get_close_matches(ec2_name, _BY_NAME, n=4, cutoff=0.7)
    if close:
        return f"Did you mean {', '.join(close)}?"
    families = dict.fromkeys(instance.family for instance in INSTANCES)
    return f"There are types of the families {', '.join(families)}"
