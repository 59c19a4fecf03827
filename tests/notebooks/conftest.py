"""One local AWS for all runs of notebooks, with the app's stacks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import running_local_aws
from tests.localaws.deployed_app import DeployedApp
from tests.notebooks.place import Place, install_kernel, make_set, run
from training.aws.cloudformation import read_outputs_from_cloudformation
from training.outputs import CONTRACTS


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Local AWS with all stacks, their images, and data in the bucket."""
    with running_local_aws(tmp_path / "aws") as aws:
        DeployedApp(aws, tmp_path / "assembly").deploy({})
        names = [contract.STACK for contract in CONTRACTS]
        outputs = read_outputs_from_cloudformation(aws.client("cloudformation"), names)
        made = Place(aws, outputs)
        made.push_images()
        make_set(tmp_path / "set")
        run("training.data", "stage", tmp_path / "set", "--to", "s3", env=aws.process_env())
        yield made


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[Path]:
    """The folders of a Jupyter that knows our kernel."""
    prefix = tmp_path / "jupyter"
    install_kernel(prefix, "us-east-1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(prefix / "share/jupyter"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(prefix / "runtime"))
        patch.setenv("JUPYTER_CONFIG_DIR", str(prefix / "config"))
        patch.setenv("IPYTHONDIR", str(prefix / "ipython"))
        yield prefix
