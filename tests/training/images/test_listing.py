"""The list command: what is built here, and what can be launched."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tests.training.images.engines import CONFIG, DIGEST, EcrClient, Engines
from training.aws.ecr import Ecr
from training.images import listing
from training.images.__main__ import app
from training.images.recipes import RECIPES
from training.images.tag import image_tag, local_name

URI = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/mask-rcnn/horovod"


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engines:
    made = Engines(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder))
    monkeypatch.setattr(
        listing, "connect", lambda _destination: SimpleNamespace(ecr=Ecr(EcrClient(made)))
    )
    return made


def rows(engines: Engines, *arguments: str) -> str:
    keys = ("Horovod", "Tensorpack", "AwsSamples", "Tf2Smddp")
    outputs = engines.folder / "outputs.json"
    outputs.write_text(json.dumps({"RegistryStack": {f"{key}RepositoryUri": URI for key in keys}}))
    done = CliRunner().invoke(app, ["list", "--outputs-file", str(outputs), *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_each_image_has_its_tag_and_whether_it_is_here_and_pushed(engines: Engines) -> None:
    engines.install("podman")
    engines.plan(images={local_name("horovod"): CONFIG})
    (engines.folder / "pushed").write_text("x")  # every tag, for this client
    found = json.loads(rows(engines, "--format", "json"))
    assert {(row["algorithm"], row["variant"]) for row in found} == {
        (algorithm, variant) for algorithm in RECIPES for variant in RECIPES[algorithm].variants
    }
    assert found[0] == {
        "algorithm": "horovod",
        "variant": "gpu",
        "tag": image_tag("horovod"),
        "built": True,
        "image": f"{URI}@{DIGEST}",
        "size_bytes": 3 * 1024**2 + 1024**2 // 2,
    }
    assert found[1]["built"] is False


def test_the_table_has_a_line_an_image_and_takes_no_engine(engines: Engines) -> None:
    heading, first, *_ = rows(engines).splitlines()
    assert heading.endswith("IN THE REGISTRY")
    assert heading.split()[:5] == ["ALGORITHM", "VARIANT", "TAG", "BUILT", "HERE"]
    assert first.split() == ["horovod", "gpu", image_tag("horovod"), "?", "-", "no"]
