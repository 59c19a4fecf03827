"""Build Horovod's wheel once, and keep it outside the tree for every later clone.

An image build runs this file, so that both have the same patches, tools and options:

    python3 -m toolchain.horovod_wheel --cache FOLDER [--cuda FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from toolchain import horovod_patches
from toolchain.errors import SetupError
from toolchain.files import locked
from toolchain.processes import Progress, Text, run

BUILD_TOOLS = ("cmake==3.31.10", "packaging==26.4", "setuptools==79.0.1", "wheel==0.45.1")
"""Horovod's CMakeLists.txt needs cmake before 4, its setup.py setuptools before 80."""

BUILD_VARIABLES = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITHOUT_TENSORFLOW": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITH_MPI": "1",
    "HOROVOD_CPU_OPERATIONS": "GLOO",
}

CUDA_VARIABLES = {
    "HOROVOD_GPU_OPERATIONS": "NCCL",
    # V100 (70) is missing: neither CUDA 13 nor PyPI's PyTorch has code for it.
    "HOROVOD_BUILD_CUDA_CC_LIST": "75,80,86,89,90,100,120",
}
"""Besides `BUILD_VARIABLES`, for a build with CUDA. T4, A100, A10G, L4 and L40S, H100 and H200,
B200, RTX PRO 6000."""

MEMORY_PER_COMPILER_BYTES = 2 * 1024**3
"""A file that includes PyTorch's headers takes more than one GiB to compile."""


@dataclass(frozen=True)
class WheelBuilder:
    """Builds the wheel for one virtual environment.

    Attributes:
        python: The interpreter of the virtual environment, in which PyTorch is installed.
        torch_version: The version of that PyTorch; the wheel works with no other.
        cache: Folder of all wheels.
        log: File for what the commands print.
        cuda: Root of a CUDA toolkit with NCCL, for a build for GPUs.
    """

    python: Path
    torch_version: str
    cache: Path
    log: Path
    cuda: Path | None = None

    @property
    def key(self) -> str:
        """What makes one build differ from another, as the name of a folder."""
        recipe = hashlib.sha256(repr((BUILD_TOOLS, sorted(self._variables().items()))).encode())
        return "-".join(
            (
                f"horovod{horovod_patches.VERSION}",
                f"torch{self.torch_version}",
                f"cp{sys.version_info.major}{sys.version_info.minor}",
                platform.machine(),
                "".join(platform.libc_ver()),
                horovod_patches.digest(),
                recipe.hexdigest()[:8],
            )
        )

    def _variables(self) -> dict[str, str]:
        if self.cuda is None:
            return BUILD_VARIABLES
        homes = {"HOROVOD_CUDA_HOME": str(self.cuda), "HOROVOD_NCCL_HOME": str(self.cuda)}
        return BUILD_VARIABLES | CUDA_VARIABLES | homes

    def find(self) -> Path | None:
        """Return the cached wheel, or None."""
        return next((self.cache / self.key).glob("horovod-*.whl"), None)

    def build(self, progress: Progress) -> Path:
        """Return the wheel, built now unless it is cached.

        Two builders at once build once: the second waits for the first. The wheel gets its final
        name only when it is complete.

        Raises:
            SetupError: The sources cannot be had or do not build.
        """
        with locked(self.cache / f"{self.key}.lock", progress):
            if wheel := self.find():
                return wheel
            work = self.cache / f"{self.key}.building"
            shutil.rmtree(work, ignore_errors=True)  # of a build that was killed
            work.mkdir()
            try:
                return self._keep(self._build_in(work, progress))
            finally:
                shutil.rmtree(work, ignore_errors=True)

    def _build_in(self, work: Path, progress: Progress) -> Path:
        tools = self._install_build_tools(work, progress)
        source = self._download(work, tools, progress)
        try:
            horovod_patches.apply(source, cpu_only=self.cuda is None)
        except horovod_patches.PatchError as error:
            raise SetupError(str(error)) from error
        return self._compile(source, tools, work, progress)

    def _install_build_tools(self, work: Path, progress: Progress) -> Path:
        """Install the old build tools aside: the environment keeps its own setuptools."""
        tools = work / "tools"
        self._pip("install", "--no-deps", "--target", tools, *BUILD_TOOLS, progress=progress)
        return tools

    def _download(self, work: Path, tools: Path, progress: Progress) -> Path:
        wanted = work / "horovod.txt"
        wanted.write_text(
            f"horovod=={horovod_patches.VERSION} --hash=sha256:{horovod_patches.SDIST_SHA256}\n",
            encoding="utf-8",
        )
        self._pip(
            "download", "--no-deps", "--no-binary", "horovod", "--no-build-isolation",
            "--require-hashes", "--dest", work, "--requirement", wanted,
            progress=progress,
            env={"PYTHONPATH": str(tools)},
        )  # fmt: skip
        shutil.unpack_archive(work / f"horovod-{horovod_patches.VERSION}.tar.gz", work)
        return work / f"horovod-{horovod_patches.VERSION}"

    def _compile(self, source: Path, tools: Path, work: Path, progress: Progress) -> Path:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        jobs = max(1, min(os.cpu_count() or 1, memory // MEMORY_PER_COMPILER_BYTES))

        def show(text: Text) -> None:
            if percent := re.search(r"\[ *\d+%\] .*", str(text)):
                progress(percent[0])

        self._pip(
            "wheel", "--verbose", "--no-deps", "--no-build-isolation", "--wheel-dir", work, source,
            progress=show,
            env={
                **self._variables(),
                "MAKEFLAGS": f"-j{jobs}",
                "PYTHONPATH": str(tools),
                "HOROVOD_CMAKE": str(tools / "cmake" / "data" / "bin" / "cmake"),
            },
        )  # fmt: skip
        return next(work.glob("horovod-*.whl"))

    def _pip(
        self, *arguments: str | Path, progress: Progress, env: dict[str, str] | None = None
    ) -> None:
        run(
            [self.python, "-m", "pip", "--no-input", "--disable-pip-version-check", *arguments],
            log=self.log,
            progress=progress,
            advice="Horovod's wheel could not be built. Set-up goes on here when run again.",
            env=env,
        )

    def _keep(self, wheel: Path) -> Path:
        with wheel.open("rb") as written:
            os.fsync(written.fileno())
        target = self.cache / self.key
        target.mkdir(exist_ok=True)
        return wheel.replace(target / wheel.name)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Build Horovod's wheel for this interpreter.")
    parser.add_argument("--cache", type=Path, required=True, help="folder for the wheel")
    parser.add_argument("--cuda", type=Path, help="root of a CUDA toolkit; none: for CPUs")
    given = parser.parse_args(arguments)
    given.cache.mkdir(parents=True, exist_ok=True)
    builder = WheelBuilder(
        Path(sys.executable), version("torch"), given.cache, given.cache / "log", given.cuda
    )
    try:
        wheel = builder.build(_print_line)
    except SetupError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{wheel}\n")
    return 0


def _print_line(text: Text) -> None:
    sys.stderr.write(f"{text if isinstance(text, str) else text()}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
