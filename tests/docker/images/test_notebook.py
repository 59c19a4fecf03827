"""The image of the test charts: what is written in its Dockerfile, and its pins."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.docker.images.dockerfiles import instructions, texts
from training.images.base_images import DEBIAN
from training.images.context import build_context
from training.images.recipes import RECIPES
from training.images.sources import PROJECT

RECIPE = RECIPES["horovod"].of("notebook")
FOLDER = PROJECT / "docker/notebook"


def pins(path: Path) -> dict[str, str]:
    """Return package to version."""
    lines = [line.split(" ")[0] for line in path.read_text().splitlines() if "==" in line]
    kept = [line for line in lines if not line.startswith("#")]
    return {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in kept}


def test_it_begins_with_debian_and_ends_as_a_user_without_rights() -> None:
    assert {text.split(" AS ")[0] for text in texts("notebook", "FROM")} == {"${BASE_IMAGE}"}
    assert texts("notebook", "ARG") == [f"BASE_IMAGE={DEBIAN.name}", "TORCH_INDEX="]
    assert instructions("notebook")[-1] == ("USER", "1000:1000")
    # The charts say what runs.
    assert texts("notebook", "ENTRYPOINT") + texts("notebook", "CMD") == []


def test_what_it_copies_is_in_its_context() -> None:
    copied = [
        word
        for text in texts("notebook", "COPY")
        if "--from" not in text
        for word in text.split()[:-1]
    ]
    with build_context(PROJECT, RECIPE) as context:
        assert [word for word in copied if not (context / word).exists()] == []
        assert not (context / "training/platforms").exists()


@pytest.mark.parametrize("module", ["training.viewing", "training.viewing.detection"])
def test_every_module_that_the_notebook_may_import_is_in_it(module: str) -> None:
    with build_context(PROJECT, RECIPE) as context:
        seen: set[str] = set()
        wanted = [module]
        while wanted:
            name = wanted.pop()
            file = next(iter(_files(PROJECT, name)), None)
            if name in seen or file is None:
                continue
            seen.add(name)
            assert list(_files(context, name)), f"{name} is not in the image"
            wanted += _imported(file)
    assert len(seen) > 10


def _files(root: Path, module: str) -> list[Path]:
    path = root.joinpath(*module.split("."))
    return [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]


def _imported(file: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("training"):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
            found.append(str(node.module))
    return found


def test_every_package_has_one_version_and_a_hash() -> None:
    text = (FOLDER / "requirements.txt").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    pinned = re.compile(r"[a-z0-9-]+==[^\s]+ --hash=sha256:[0-9a-f]{64}")
    assert [line for line in lines if not pinned.fullmatch(line)] == []
    jupyter = pins(FOLDER / "requirements.txt")
    assert "jupyterlab" in jupyter
    # One version of a package here as in the trainer's image and in the rest of the project.
    for others in ("docker/horovod/constraints.txt", "constraints.txt"):
        shared = {name: pin for name, pin in pins(PROJECT / others).items() if name in jupyter}
        assert shared == {name: jupyter[name] for name in shared}
