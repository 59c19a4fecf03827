"""The patches fit the text that they were written for, and refuse any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolchain import horovod_patches
from toolchain.horovod_patches import PatchError

REAL_LINES = {
    "CMakeLists.txt": (
        "set(CMAKE_CXX_STANDARD 14)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n"
        'string(PREPEND GLOO_CMAKE "set(CMAKE_CXX_STANDARD 17)\\n")\n'
    ),
    "horovod/torch/CMakeLists.txt": "if(TRUE)\n    set(CMAKE_CXX_STANDARD 14)\nendif()\n",
    "cmake/Modules/FindPytorch.cmake": (
        'string(TOUPPER "${Pytorch_CUDA}" Pytorch_CUDA)\n'
        'string(TOUPPER "${Pytorch_ROCM}" Pytorch_ROCM)\n'
    ),
}
"""Lines of the real files, those that the patches touch and their near misses."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in REAL_LINES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_cpu_build_gets_cpp_20_and_no_cuda(source: Path) -> None:
    horovod_patches.apply(source, cpu_only=True)
    assert (source / "CMakeLists.txt").read_text() == (
        "set(CMAKE_CXX_STANDARD 20)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n"
        'string(PREPEND GLOO_CMAKE "set(CMAKE_CXX_STANDARD 17)\\n")\n'
    )
    assert (
        source / "horovod/torch/CMakeLists.txt"
    ).read_text() == "if(TRUE)\n    set(CMAKE_CXX_STANDARD 20)\nendif()\n"
    assert (source / "cmake/Modules/FindPytorch.cmake").read_text() == (
        'set(Pytorch_CUDA "FALSE")\nstring(TOUPPER "${Pytorch_ROCM}" Pytorch_ROCM)\n'
    )


def test_gpu_build_keeps_the_search_for_cuda(source: Path) -> None:
    horovod_patches.apply(source, cpu_only=False)
    find_pytorch = "cmake/Modules/FindPytorch.cmake"
    assert (source / find_pytorch).read_text() == REAL_LINES[find_pytorch]
    assert "STANDARD 20" in (source / "CMakeLists.txt").read_text()


@pytest.mark.parametrize(
    ("text", "count"),
    [("set(CMAKE_CXX_STANDARD 17)\n", 0), ("set(CMAKE_CXX_STANDARD 14)\n" * 2, 2)],
)
def test_text_that_does_not_fit_is_refused_and_nothing_is_written(
    source: Path, text: str, count: int
) -> None:
    (source / "horovod/torch/CMakeLists.txt").write_text(text)
    with pytest.raises(PatchError, match=f"horovod/torch/CMakeLists.txt.*found it {count} times"):
        horovod_patches.apply(source, cpu_only=True)
    assert (source / "CMakeLists.txt").read_text() == REAL_LINES["CMakeLists.txt"]


def test_patching_twice_is_refused(source: Path) -> None:
    horovod_patches.apply(source, cpu_only=True)
    with pytest.raises(PatchError, match="unpatched"):
        horovod_patches.apply(source, cpu_only=True)


def test_missing_file_is_named(source: Path) -> None:
    (source / "CMakeLists.txt").unlink()
    with pytest.raises(PatchError, match=r"/CMakeLists.txt: cannot be read \(No such file"):
        horovod_patches.apply(source, cpu_only=False)


def test_file_works_alone_as_an_image_build_uses_it(source: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / "patches.py"
    alone.parent.mkdir()
    alone.write_bytes(Path(horovod_patches.__file__).read_bytes())
    done = subprocess.run(
        [sys.executable, "-I", alone, source], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("CMAKE_CXX_STANDARD 20") == 2
    again = subprocess.run(
        [sys.executable, "-I", alone, source], capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert again.stderr.startswith("error: ")
    assert "Traceback" not in again.stderr
