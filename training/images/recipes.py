"""What goes into each algorithm's image: one entry here for each folder below `docker/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from training.images.base_images import (
    DEBIAN,
    PYTORCH_SMDDP,
    TENSORFLOW_1,
    TENSORFLOW_2_SMDDP,
    BaseImage,
)

Variant = Literal["gpu", "cpu", "gpu-arm64", "cpu-arm64", "smddp", "notebook"]
"""For which processor too: without one, x86-64. `smddp`: GPUs, with SageMaker's data parallel
library. `notebook`: no trainer, but Jupyter and TensorBoard beside its logs."""


def split_variant(variant: Variant) -> tuple[str, str | None]:
    """Return `gpu`, `cpu`, `smddp` or `notebook`, and the processor as container engines call it;
    None is x86-64."""
    device, _, architecture = variant.partition("-")
    return device, architecture or None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The sources of one image. A build sees exactly these, so that their hash is its tag."""

    folder: str
    """Holds the Dockerfile, the adapter and what else only this image takes."""
    base: BaseImage
    """What the Dockerfile begins with."""
    shared: tuple[str, ...] = ("docker/entrypoint", "docker/sbom.py")
    """Files and folders that it takes besides, from the root of the project."""
    variants: tuple[Variant, ...] = ("gpu",)
    pins: tuple[str, ...]
    """Files of all Python packages that it installs, with their versions."""
    needs_gib: int
    """Free space that a build takes where the engine keeps its layers."""
    apart: Mapping[Variant, Recipe] = field(default_factory=dict)
    """The variants that are made of other sources, on another base."""

    def of(self, variant: Variant) -> Recipe:
        """Return the recipe of a variant."""
        return self.apart.get(variant, self)

    def each(self) -> Iterator[Recipe]:
        """Yield this recipe, and those of variants that are made of other sources."""
        yield self
        yield from self.apart.values()

    @property
    def dockerfile(self) -> str:
        return f"{self.folder}/Dockerfile"

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.folder, *self.shared)


_TRAINER = (
    "training/__init__.py",
    "training/cli.py",
    "training/config_keys.py",
    "training/data",
    "training/errors.py",
    "training/hyperparameter_types.py",
    "training/layout.py",
    "training/maskrcnn",
    "training/preflight/__init__.py",
    "training/preflight/finding.py",
    "training/reference_keys.py",
    "training/report",
    "training/shared_options.py",
    "training/told.py",
    "training/trace.py",
    "training/validation.py",
    "training/visible.py",
)
"""The trainer, its report and what they import. The rest of the package belongs to the launcher, so
that a change of a plan leaves the image as it is."""

_STAGING = (
    "training/aws/__init__.py",
    "training/aws/answers.py",
    "training/aws/client.py",
    "training/aws/cloudformation.py",
    "training/aws/errors.py",
    "training/aws/request.py",
    "training/outputs.py",
    "training/stop_signals.py",
)
"""What `python -m training.data stage` takes beside it: the image also copies data, inside the
VPC (training/data/on/)."""

_HOROVOD_WHEEL = (
    "toolchain/__init__.py",
    "toolchain/errors.py",
    "toolchain/files.py",
    "toolchain/horovod_patches.py",
    "toolchain/horovod_wheel.py",
    "toolchain/processes.py",
)
"""What builds Horovod's wheel, here as on a developer's machine."""

RECIPES: Mapping[str, Recipe] = {
    "horovod": Recipe(
        folder="docker/horovod",
        base=DEBIAN,
        shared=(
            "docker/entrypoint",
            "docker/sbom.py",
            "requirements-train.txt",
            *_HOROVOD_WHEEL,
            *_STAGING,
            *_TRAINER,
        ),
        variants=("gpu", "cpu", "gpu-arm64", "cpu-arm64", "smddp", "notebook"),
        pins=("docker/horovod/constraints.txt",),
        needs_gib=25,
        apart={
            "smddp": Recipe(
                folder="docker/horovod-smddp",
                base=PYTORCH_SMDDP,
                shared=(
                    "docker/entrypoint",
                    "docker/sbom.py",
                    "docker/horovod/adapter.py",
                    *_TRAINER,
                ),
                pins=("docker/horovod-smddp/requirements.txt",),
                needs_gib=40,
            ),
            "notebook": Recipe(
                folder="docker/notebook",
                base=DEBIAN,
                shared=(
                    "docker/sbom.py",
                    "docker/horovod/constraints.txt",
                    "requirements-train.txt",
                    "training/viewing",
                    *_TRAINER,
                ),
                pins=("docker/horovod/constraints.txt", "docker/notebook/requirements.txt"),
                needs_gib=20,
            ),
        },
    ),
    "tensorpack": Recipe(
        folder="docker/tensorpack",
        base=DEBIAN,
        shared=("docker/entrypoint", "docker/sbom.py", "docker/commit.sh"),
        variants=("gpu", "cpu"),
        pins=(
            "docker/tensorpack/requirements-cpu.txt",
            "docker/tensorpack/requirements-gpu.txt",
            "docker/tensorpack/requirements-horovod.txt",
        ),
        needs_gib=25,
    ),
    "aws-samples": Recipe(
        folder="docker/aws-samples",
        base=TENSORFLOW_1,
        shared=("docker/entrypoint", "docker/sbom.py", "docker/commit.sh"),
        pins=("docker/aws-samples/requirements.txt",),
        needs_gib=25,
    ),
    "tf2-smddp": Recipe(
        folder="docker/tf2-smddp",
        base=TENSORFLOW_2_SMDDP,
        shared=("docker/entrypoint", "docker/sbom.py", "docker/commit.sh"),
        pins=("docker/tf2-smddp/requirements.txt",),
        needs_gib=40,
    ),
}
