"""The oldest image has Python 3.6: nothing newer may be used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docker.entrypoint.old_python import old_pythons

ROOT = Path(__file__).parents[3]
DOCKER = ROOT / "docker"
FILES = sorted(
    [
        *DOCKER.glob("*.py"),
        *DOCKER.glob("entrypoint/*.py"),
        *DOCKER.glob("*/adapter.py"),
        *DOCKER.glob("*/patches.py"),
    ]
)

NEWER_MODULES = {
    "dataclasses",
    "contextvars",
    "graphlib",
    "tomllib",
    "zoneinfo",
    "importlib.metadata",
}
NEWER_NAMES = {
    # 3.7
    *("SimpleQueue", "nullcontext", "time_ns", "monotonic_ns", "isascii", "fromisoformat"),
    *("get_running_loop", "asynccontextmanager", "ThreadingHTTPServer", "breakpoint"),
    # 3.8
    *("create_server", "has_dualstack_ipv6", "cached_property", "prod", "isqrt", "Protocol"),
    *("Final", "Literal", "TypedDict", "addCleanup", "unraisablehook", "excepthook"),
    # 3.9 and later
    *("removeprefix", "removesuffix", "randbytes", "to_thread", "pairwise", "is_relative_to"),
    *("waitstatus_to_exitcode", "pidfd_open", "Annotated", "Self", "StrEnum", "batched"),
}
NEWER_ARGUMENTS = {
    *("capture_output", "text", "dirs_exist_ok", "missing_ok", "pipesize", "process_group"),
    *("umask", "root_dir", "include_hidden", "delete_on_close", "slots"),
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_has_nothing_newer_than_python_3_6(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules = {node.module or ""}
            assert node.module != "__future__", "annotations are of 3.7"
            assert not {alias.name for alias in node.names} & NEWER_NAMES
        else:
            modules = set()
        assert not modules & NEWER_MODULES
        own = ("entrypoint", "")
        roots = {module.partition(".")[0] for module in modules}
        is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
        assert is_relative or roots <= {*sys.stdlib_module_names, *own}
        if isinstance(node, ast.Attribute):
            assert node.attr not in NEWER_NAMES, f"line {node.lineno}"
        if isinstance(node, ast.Call):
            assert not {word.arg for word in node.keywords} & NEWER_ARGUMENTS, f"line {node.lineno}"


def test_old_interpreters_import_it_and_run_a_host_alone(tmp_path: Path) -> None:
    pythons = old_pythons()
    if not pythons:
        pytest.skip("no Python 3.6 or 3.7 here")
    for python in pythons:
        (tmp_path / "ml/input/data/root/here").mkdir(parents=True, exist_ok=True)
        modules = "; ".join(
            f"import entrypoint.{path.stem}"
            for path in FILES
            if path.parent.name == "entrypoint" and path.stem != "__main__"
        )
        subprocess.run([python, "-c", modules], check=True, cwd=DOCKER)
        for algorithm in ("horovod", "tensorpack", "aws-samples", "tf2-smddp"):
            adapter = DOCKER / algorithm / "adapter.py"
            code = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2])"
            subprocess.run([python, "-c", code, str(DOCKER), str(adapter)], check=True)
        done = subprocess.run(
            [python, str(DOCKER / "entrypoint"), "folders", "--need", "here", "--make", "new/one"],
            check=False,
            capture_output=True,
            text=True,
            env={"MASK_RCNN_ML_ROOT": str(tmp_path / "ml"), "PATH": os.environ["PATH"]},
        )
        assert (done.returncode, done.stderr) == (0, "entrypoint: made: new/one\n")
        (tmp_path / "ml/input/data/root/new/one").rmdir()
