"""What the images hold is enough for what runs in them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from training.images.context import build_context
from training.images.recipes import RECIPES, Variant

RUN_IN_IMAGE = (
    "training.maskrcnn.train",
    "training.maskrcnn.engines.horovod_engine",
    "training.maskrcnn.engines.smddp_engine",
    "training.maskrcnn.engines.torch_engine",
    "training.report",
    "training.report.environment",
)


def imported(file: Path) -> Iterator[str]:
    """Yield what a module imports of the package, at its top or when it is used."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("training"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("training"))


def file_of(root: Path, module: str) -> Path | None:
    path = root.joinpath(*module.split("."))
    return next(
        (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None
    )


@pytest.mark.parametrize("variant", ["gpu", "smddp"])
def test_every_module_that_the_trainer_may_import_is_in_the_image(variant: Variant) -> None:
    with build_context(ROOT, RECIPES["horovod"].of(variant)) as context:
        seen: set[str] = set()
        wanted = [*RUN_IN_IMAGE]
        while wanted:
            module = wanted.pop()
            if module in seen or file_of(ROOT, module) is None:
                continue
            seen.add(module)
            file = file_of(context, module)
            assert file is not None, f"{module} is not in the image: training/images/recipes.py"
            wanted += imported(file)
            wanted.append(module.rpartition(".")[0])
        assert len(seen) > 40


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (["training.maskrcnn.train"], "--hyperparameters"),
        (["training.data", "stage"], "--outputs-file"),
        (["training.data", "fetch"], "FOLDER"),
    ],
)
def test_commands_start_from_the_images_files_alone(command: list[str], word: str) -> None:
    with build_context(ROOT, RECIPES["horovod"]) as context:
        done = subprocess.run(
            [sys.executable, "-m", *command, "--help"],
            cwd=context,
            env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert word in done.stdout


@pytest.mark.parametrize("algorithm", RECIPES)
def test_each_image_takes_its_own_folder_and_the_entry_point(algorithm: str) -> None:
    for variant in RECIPES[algorithm].variants:
        recipe = RECIPES[algorithm].of(variant)
        if variant == "notebook":  # It runs no job.
            continue
        folder = f"docker/{algorithm}" + ("-smddp" if variant == "smddp" else "")
        assert recipe.folder == folder
        assert "docker/entrypoint" in recipe.sources
        assert recipe.dockerfile == f"{folder}/Dockerfile"
    assert set(RECIPES[algorithm].apart) <= set(RECIPES[algorithm].variants)


def test_what_the_dockerfile_copies_is_in_its_context() -> None:
    lines = (ROOT / "docker/horovod/Dockerfile").read_text().splitlines()
    copied = [
        word
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for word in line.split()[1:-1]
    ]
    assert len(copied) >= 7
    with build_context(ROOT, RECIPES["horovod"]) as context:
        assert [word for word in copied if not (context / word).exists()] == []
