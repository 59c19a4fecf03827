"""The image of the trainer with SageMaker's data parallel library, on a stand-in for its base.

Amazon's Deep Learning Container can be pulled with an AWS account alone. The stand-in has the same
versions of Python (3.11), torch and torchvision, from PyPI; in place of the library it has one
that joins ranks by gloo, and a smddprun that only starts them. All else is real: the Dockerfile,
its pins, the entry point, mpirun over SSH, the trainer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.docker.image.asking import ask
from training.container_engine import Engine, find_engine
from training.data.shapes import ShapesSet, make_shapes
from training.hyperparameter_text import to_texts
from training.images import base
from training.maskrcnn.hyperparameters import read_hyperparameters
from training.platforms.sagemaker.containers.contract import config_files

pytestmark = [pytest.mark.container, pytest.mark.soak, pytest.mark.timeout(3600)]

STAND_IN = ROOT / "tests" / "training" / "maskrcnn" / "engines" / "stand_in"
BASE = "localhost/mask-rcnn/stand-in-for-pytorch-training:2.3.0"
NETWORK = "mask-rcnn-smddp-test"
HOSTS = ("algo-1", "algo-2")

BASE_DOCKERFILE = r"""
FROM {debian}
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes \
      --no-install-recommends iproute2 openmpi-bin openssh-client openssh-server python3-pip \
      python3-venv
RUN --mount=type=secret,id=ca-bundle \
    if [ -s /run/secrets/ca-bundle ]; then export PIP_CERT=/run/secrets/ca-bundle; fi; \
    pip install --break-system-packages --no-cache-dir {packages}
COPY stand_in /usr/local/lib/python3.11/dist-packages
COPY smddprun /usr/local/bin/
# A key that all containers would share, as Amazon's bases have one.
RUN ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_rsa
ENTRYPOINT ["bash"]
CMD ["/bin/bash"]
"""
METADATA = "Metadata-Version: 2.1\nName: smdistributed-dataparallel\nVersion: {version}\n"


@pytest.fixture(scope="module")
def engine() -> Engine:
    if os.geteuid() or shutil.which("podman") is None:
        pytest.skip("containers here take podman, and root to run it")
    return find_engine("podman", ("podman",))


def make_base(engine: Engine, folder: Path, name: str, *, version: str = "2.3.0") -> str:
    """Return the name of a base image with a library of that version."""
    shutil.copytree(STAND_IN, folder / "stand_in", ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / "stand_in" / f"smdistributed_dataparallel-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA.format(version=version))
    launcher = folder / "smddprun"
    launcher.write_text('#!/bin/sh\nexec "$@"\n')
    launcher.chmod(0o755)
    packages = "torch==2.3.0 torchvision==0.18.0 numpy==1.26.4"
    (folder / "Dockerfile").write_text(
        BASE_DOCKERFILE.format(debian=base.make(engine, print), packages=packages)
    )
    bundle = os.environ.get("PIP_CERT")
    secret = ("--secret", f"id=ca-bundle,src={bundle}") if bundle else ()
    argv = engine.argv("build", "--layers", *secret, "--tag", name, str(folder))
    subprocess.run(argv, check=True)
    return name


def build(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-m", "training.images", "build", "--algorithm", "horovod"),
            *("--variant", "smddp", "--engine", "podman", "--format", "json", *arguments),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def image(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    name = make_base(engine, tmp_path_factory.mktemp("base"), BASE)
    done = build("--base-image", name)
    assert done.returncode == 0, done.stderr[-3000:]
    found: str = json.loads(done.stdout)["image"]
    return found


def test_the_image_has_the_bases_torch_the_pins_and_no_shared_key(
    engine: Engine, image: str
) -> None:
    check = (
        "import numpy, pydantic, torch, torchvision;"
        "print(torch.__version__.split('+')[0], torchvision.__version__.split('+')[0],"
        "numpy.__version__, pydantic.__file__)"
    )
    torch, vision, numpy, pydantic = ask(engine, image, "python3", "-c", check).split()
    assert (torch, vision, numpy) == ("2.3.0", "0.18.0", "1.26.4")
    assert pydantic.startswith("/opt/venv/")
    assert ask(engine, image, "cat", "/opt/mask-rcnn/algorithm") == "horovod\n"
    keys = "ls /etc/ssh /root/.ssh 2>/dev/null | grep -c -e _key -e id_ || true"
    assert ask(engine, image, "sh", "-c", keys) == "0\n"
    inspected = engine.ask("image", "inspect", "--format", "{{json .Config}}", image).stdout
    config = json.loads(inspected)
    assert config["Labels"]["mask-rcnn.sources"] == image.rpartition(":")[2]
    assert config["Labels"]["mask-rcnn.variant"] == "smddp"
    # The base's own command would be an argument of the entry point.
    assert not config.get("Cmd")


def test_its_list_of_packages_has_those_of_the_base_and_ours(image: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "training.images", "sbom", "--algorithm", "horovod"),
            *("--variant", "smddp", "--engine", "podman"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    purls = [each["purl"] for each in json.loads(done.stdout)["components"]]
    assert len(set(purls)) == len(purls)
    for wanted in ("torch@2.3.0", "smdistributed-dataparallel@2.3.0", "hotcoco@1.3.0"):
        assert [purl for purl in purls if purl.startswith(f"pkg:pypi/{wanted}")], wanted
    assert [purl for purl in purls if purl.startswith("pkg:deb/debian/openssh-server@")]


def test_another_base_is_refused_by_its_versions(
    engine: Engine, image: str, tmp_path: Path
) -> None:
    engine.ask("untag", image, image)
    try:
        other = make_base(engine, tmp_path, f"{BASE}-other", version="2.2.0")
        done = build("--base-image", other)
    finally:
        engine.ask("rmi", f"{BASE}-other")
        again = build("--base-image", BASE)  # all of its layers are here
    assert done.returncode == 1
    assert "base image: has {'torch': '2.3.0" in done.stderr
    assert "'smdistributed-dataparallel': '2.2.0'}, expected" in done.stderr
    assert json.loads(again.stdout)["image"] == image


@pytest.fixture
def network(engine: Engine) -> Iterator[str]:
    engine.ask("network", "create", NETWORK)
    yield NETWORK
    engine.ask("network", "rm", "--force", NETWORK)


def test_two_hosts_train_by_smddprun_and_the_backend_smddp(
    engine: Engine, image: str, network: str, tmp_path: Path
) -> None:
    data = tmp_path / "train"
    make_shapes(data, ShapesSet(train=8, val=2, size=64))
    spec = yaml.safe_load((ROOT / "jobs" / "tiny.yaml").read_text())
    values = {**spec["hyperparameters"], "log_period": 1, "lr_epoch_schedule": [[2, None]]}
    body = {
        "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge"},
        "HyperParameters": to_texts(read_hyperparameters(values, source="test")),
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {}}],
        "AlgorithmSpecification": {"TrainingInputMode": "File"},
    }
    hosts = [
        subprocess.Popen(
            run_host(engine, image, host, body, tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for host in HOSTS
    ]
    said = [host.communicate(timeout=600)[0] for host in hosts]
    assert [host.returncode for host in hosts] == [0, 0], said
    assert "2 ranks (smddp) on cpu" in said[0]
    assert "a backend named smddp joins 0 2" in said[0]
    log = tmp_path / "algo-1" / "log"
    outcome = json.loads((log / "outcome.json").read_text())
    assert outcome["status"] == "completed"
    entries = [json.loads(line) for line in (log / "metrics.jsonl").read_text().splitlines()]
    steps = [entry["step"] for entry in entries if entry["kind"] == "train"]
    assert steps == list(range(1, outcome["step"] + 1))
    assert (tmp_path / "algo-1" / "model" / "model.pt").is_file()


def run_host(
    engine: Engine, image: str, host: str, body: dict[str, Any], root: Path
) -> Sequence[str]:
    """Return the command of one host, as SageMaker starts it."""
    folder = root / host
    for name in ("config", "log", "model", "output"):
        (folder / name).mkdir(parents=True)
    for name, content in config_files(body, HOSTS, host).items():
        (folder / "config" / name).write_text(json.dumps(content))
    mounts = {
        folder / "config": "/opt/ml/input/config",
        root / "train": "/opt/ml/input/data/train",
        folder / "log": "/opt/ml/checkpoints",
        folder / "model": "/opt/ml/model",
        folder / "output": "/opt/ml/output",
    }
    variables = {
        "MASK_RCNN_ALGORITHM": "horovod",
        "MASK_RCNN_DISTRIBUTION": "smddp",
        "MASK_RCNN_PROCESSES_PER_HOST": "1",
        "MASK_RCNN_DATA": "/opt/ml/input/data/train",
        "MASK_RCNN_LOG": "/opt/ml/checkpoints",
        "TRAINING_JOB_NAME": "smddp",
        "CURRENT_HOST": host,
    }
    return engine.argv(
        *("run", "--rm", "--pull", "never", "--name", f"{NETWORK}-{host}"),
        *("--network", NETWORK, "--network-alias", host, "--hostname", host),
        *("--shm-size", str(2**28), "--security-opt", "label=disable", *engine.limits()),
        *(word for name, value in variables.items() for word in ("--env", f"{name}={value}")),
        *(word for path, at in mounts.items() for word in ("--volume", f"{path}:{at}")),
        image,
        "train",
    )
