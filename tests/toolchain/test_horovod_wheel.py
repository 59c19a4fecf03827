"""One build for each key, whoever asks, and no half wheel after a kill.

A small program plays pip: it records its calls and makes a source distribution and a wheel.
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from toolchain import horovod_patches, horovod_wheel
from toolchain.errors import SetupError
from toolchain.horovod_wheel import WheelBuilder

PROJECT = Path(__file__).parents[2]

FAKE_PIP = """#!{python}
import os, sys, tarfile, time
from pathlib import Path
arguments = sys.argv[3:]
folder = Path(__file__).parent
verb = next(x for x in arguments if x in ("install", "download", "wheel"))
with (folder / "calls").open("a") as calls:
    calls.write(verb + "\\n")
if verb == "download":
    destination = Path(arguments[arguments.index("--dest") + 1])
    with tarfile.open(destination / "horovod-{version}.tar.gz", "w:gz") as archive:
        archive.add(folder / "source", "horovod-{version}")
if verb == "wheel":
    (folder / "environment").write_text(repr(dict(os.environ)))
    destination = Path(arguments[arguments.index("--wheel-dir") + 1])
    wheel = destination / "horovod-{version}-cp311-cp311-linux_x86_64.whl"
    wheel.write_text("half")
    time.sleep(float(os.environ.get("FAKE_BUILD_S", "0.3")))
    wheel.write_text("whole " + (Path(arguments[-1]) / "CMakeLists.txt").read_text())
    sys.exit(int(os.environ.get("FAKE_EXIT", "0")))
"""


@pytest.fixture
def builder(tmp_path: Path) -> WheelBuilder:
    python = tmp_path / "fake" / "python"
    python.parent.mkdir()
    python.write_text(FAKE_PIP.format(python=sys.executable, version=horovod_patches.VERSION))
    python.chmod(0o755)
    for patch in horovod_patches.PATCHES:
        file = python.parent / "source" / patch.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(patch.old)
    return WheelBuilder(python, "2.14.1", tmp_path / "wheels", tmp_path / "log")


def calls(builder: WheelBuilder) -> list[str]:
    return (builder.python.parent / "calls").read_text().split()


def start(builder: WheelBuilder, **variables: str) -> subprocess.Popen[str]:
    """Build in another process, which prints the wheel's path."""
    values = [str(builder.python), builder.torch_version, str(builder.cache), str(builder.log)]
    program = (
        "import sys; from pathlib import Path; from toolchain.horovod_wheel import WheelBuilder\n"
        "a = sys.argv; b = WheelBuilder(Path(a[1]), a[2], Path(a[3]), Path(a[4]))\n"
        "print(b.build(lambda text: None))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, *values],
        cwd=PROJECT,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_wheel_is_built_from_the_patched_sources_and_then_cached(builder: WheelBuilder) -> None:
    wheel = builder.build(lambda text: None)
    assert wheel.parent == builder.cache / builder.key
    assert wheel.read_text() == "whole set(CMAKE_CXX_STANDARD 20)"
    assert builder.build(lambda text: None) == wheel
    assert calls(builder) == ["install", "download", "wheel"]
    assert not list(builder.cache.glob("*.building"))


def test_build_asks_for_gloo_and_mpi_without_cuda(builder: WheelBuilder) -> None:
    builder.build(lambda text: None)
    environment = (builder.python.parent / "environment").read_text()
    for variable in ("HOROVOD_WITH_GLOO", "HOROVOD_WITH_MPI", "HOROVOD_WITH_PYTORCH"):
        assert f"'{variable}': '1'" in environment
    assert "'HOROVOD_GPU_OPERATIONS'" not in environment


def test_key_tells_versions_and_recipes_apart(
    builder: WheelBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_torch = WheelBuilder(builder.python, "2.15.0", builder.cache, builder.log)
    assert other_torch.key != builder.key
    assert "torch2.14.1-cp311" in builder.key
    before = builder.key
    monkeypatch.setattr(horovod_patches, "PATCHES", horovod_patches.PATCHES[:2])
    assert builder.key != before


def test_two_builders_at_once_build_once(builder: WheelBuilder) -> None:
    both = [start(builder), start(builder)]
    printed = {process.communicate()[0].strip() for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert printed == {str(builder.find())}
    assert calls(builder) == ["install", "download", "wheel"]


def test_killed_build_leaves_no_wheel_and_the_next_one_builds(builder: WheelBuilder) -> None:
    first = start(builder, FAKE_BUILD_S="3")
    work = builder.cache / f"{builder.key}.building"
    deadline = time.monotonic() + 20
    while not list(work.glob("*.whl")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert builder.find() is None
    wheel = builder.build(lambda text: None)
    assert wheel.read_text().startswith("whole")
    assert not work.exists()


def test_failed_build_shows_what_failed_and_keeps_nothing(
    builder: WheelBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_EXIT", "7")
    with pytest.raises(SetupError, match=r"exit code 7[\s\S]*Horovod's wheel could not be built"):
        builder.build(lambda text: None)
    assert builder.find() is None
    assert not list(builder.cache.glob("*.building"))


def test_sources_that_the_patches_do_not_fit_are_a_set_up_error(builder: WheelBuilder) -> None:
    (builder.python.parent / "source" / "CMakeLists.txt").write_text("other")
    with pytest.raises(SetupError, match=r"CMakeLists.txt: expected .* found it 0 times"):
        builder.build(lambda text: None)


def test_a_build_for_gpus_has_its_own_key_options_and_sources(builder: WheelBuilder) -> None:
    for_gpus = replace(builder, cuda=Path("/opt/cuda"))
    assert for_gpus.key != builder.key
    wheel = for_gpus.build(lambda text: None)
    assert builder.find() is None
    given = ast.literal_eval((builder.python.parent / "environment").read_text())
    assert given["HOROVOD_GPU_OPERATIONS"] == "NCCL"
    assert given["HOROVOD_CUDA_HOME"] == given["HOROVOD_NCCL_HOME"] == "/opt/cuda"
    assert given["HOROVOD_WITH_MPI"] == "1"
    assert for_gpus.build(lambda text: None) == wheel


def test_the_command_of_an_image_build_prints_the_wheel(
    builder: WheelBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(horovod_wheel.sys, "executable", str(builder.python))
    cache = builder.cache / "of-an-image"
    assert horovod_wheel.main(["--cache", str(cache)]) == 0
    (wheel,) = cache.glob("*/horovod-*.whl")
    assert capsys.readouterr().out == f"{wheel}\n"


def test_the_command_ends_with_2_where_the_build_fails(
    builder: WheelBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(horovod_wheel.sys, "executable", str(builder.python))
    monkeypatch.setenv("FAKE_EXIT", "1")
    assert horovod_wheel.main(["--cache", str(builder.cache)]) == 2
    assert "Horovod's wheel could not be built" in capsys.readouterr().err
