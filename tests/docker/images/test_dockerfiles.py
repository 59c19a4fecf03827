"""What is written in the Dockerfiles of the three third-party images, and in their scripts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docker.images.dockerfiles import (
    DOCKER,
    THIRD_PARTY,
    commands,
    instructions,
    scripts,
    texts,
)
from training.images.base_images import PublicImage
from training.images.context import build_context
from training.images.recipes import RECIPES

REQUIREMENTS = sorted(
    path for algorithm in THIRD_PARTY for path in (DOCKER / algorithm).glob("requirements*.txt")
)


@pytest.mark.parametrize("algorithm", RECIPES)
def test_every_stage_begins_with_the_base_image_of_the_table(algorithm: str) -> None:
    stages = {text.split(" AS ")[0] for text in texts(algorithm, "FROM")}
    assert stages == {"${BASE_IMAGE}"}
    declared = [text for text in texts(algorithm, "ARG") if text.startswith("BASE_IMAGE")]
    base = RECIPES[algorithm].base
    default = f"BASE_IMAGE={base.name}" if isinstance(base, PublicImage) else "BASE_IMAGE"
    assert declared == [default]


@pytest.mark.parametrize("algorithm", RECIPES)
def test_an_image_starts_as_the_contract_says(algorithm: str) -> None:
    assert [json.loads(text) for text in texts(algorithm, "ENTRYPOINT")] == [
        ["python3", "/opt/mask-rcnn/entrypoint"]
    ]
    # Whatever the platform gives is an argument of the entry point; SageMaker's folders are root's.
    assert {each.name for each in instructions(algorithm)} & {"CMD", "USER", "ADD"} == set()
    assert f"docker/{algorithm}/adapter.py /opt/mask-rcnn/adapter.py" in texts(algorithm, "COPY")
    assert "docker/entrypoint/ /opt/mask-rcnn/entrypoint/" in texts(algorithm, "COPY")
    written = f"echo {algorithm} > /opt/mask-rcnn/algorithm"
    assert any(text.endswith(written) for text in texts(algorithm, "RUN"))


@pytest.mark.parametrize("algorithm", RECIPES)
def test_no_key_that_all_containers_would_share_stays_in_an_image(algorithm: str) -> None:
    removed = "/root/.ssh" if algorithm in {"aws-samples", "tf2-smddp"} else ""
    last = "\n".join(texts(algorithm, "RUN"))
    assert re.search(rf"rm -rf [^;]*{removed} ?/etc/ssh/ssh_host_\*", last)


@pytest.mark.parametrize("algorithm", THIRD_PARTY)
def test_what_a_dockerfile_copies_is_in_its_context(algorithm: str) -> None:
    copied = [
        word
        for text in texts(algorithm, "COPY")
        if "--from" not in text
        for word in text.split()[:-1]
    ]
    assert len(copied) >= 5
    with build_context(ROOT, RECIPES[algorithm]) as context:
        assert [word for word in copied if not list(context.glob(word))] == []


@pytest.mark.parametrize("algorithm", THIRD_PARTY)
def test_the_label_names_the_commit_that_the_script_fetches(algorithm: str) -> None:
    labels = " ".join(texts(algorithm, "LABEL"))
    (commit,) = re.findall(r'mask-rcnn\.commit="([0-9a-f]{40})"', labels)
    fetched = [
        command.partition("=")[2]
        for command in commands(DOCKER / algorithm / "install.sh")
        if re.fullmatch(r"[a-z_]+=[0-9a-f]{40}", command)
    ]
    assert commit in fetched
    golden = json.loads((ROOT / f"tests/docker/adapters/golden/{algorithm}.json").read_text())
    assert golden["commit"] == commit


@pytest.mark.parametrize("algorithm", THIRD_PARTY)
def test_every_download_is_pinned(algorithm: str) -> None:
    for script in scripts(algorithm):
        pinned = {
            command.partition("=")[0]
            for command in commands(script)
            if re.fullmatch(r"[a-z_]+=[0-9a-f]{40}", command)
        }
        for command in commands(script):
            if 'commit.sh" http' in command:
                (variable,) = re.findall(r'commit\.sh" https://\S+ "\$([a-z_]+)"', command)
                assert variable in pinned, command
            if re.match(r"fetch \w", command):
                assert re.fullmatch(r"fetch \S+ [0-9a-f]{64}", command), command
            if "pip install" in command or 'pip" install' in command:
                assert "--require-hashes" in command or command.endswith("--no-build-isolation .)")
            assert not re.search(r"\b(wget|apt-get|git clone)\b", command), command
            assert not re.search(r"\|\s*(ba)?sh\b", command), command


def test_what_curl_gets_is_checked_before_it_is_unpacked() -> None:
    text = "\n".join(commands(DOCKER / "tensorpack" / "cuda.sh"))
    curl, check, tar = (
        text.index(word) for word in ("curl ", "sha256sum --check --strict", "tar ")
    )
    assert curl < check < tar
    assert text.count("curl ") == 1


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_package_has_a_version_and_a_hash(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    pattern = r"[a-z0-9-]+==[A-Za-z0-9.]+( --hash=sha256:[0-9a-f]{64})+"
    assert [line for line in lines if not re.fullmatch(pattern, line)] == []
    names = [line.partition("==")[0] for line in lines]
    assert names == sorted(set(names))


def test_both_variants_of_tensorpack_have_the_same_packages_but_for_tensorflow_and_cuda() -> None:
    def packages(variant: str) -> set[str]:
        text = (DOCKER / "tensorpack" / f"requirements-{variant}.txt").read_text()
        return set(text.splitlines())

    names = {line.partition("==")[0] for line in packages("cpu") ^ packages("gpu")}
    assert {name for name in names if not name.startswith("nvidia-")} == {
        "tensorflow",
        "tensorflow-cpu",
    }
    assert "nvidia-nccl-cu12" in names


@pytest.mark.parametrize("algorithm", RECIPES)
def test_nothing_is_called_latest(algorithm: str) -> None:
    files = [DOCKER / algorithm / "Dockerfile", *(DOCKER / algorithm).glob("*.sh")]
    assert [path.name for path in files if "latest" in path.read_text()] == []


@pytest.mark.parametrize("algorithm", THIRD_PARTY)
def test_shellcheck_finds_nothing_in_the_scripts(algorithm: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), *scripts(algorithm)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""


IGNORED = (
    "DL3008",  # Debian's mirrors drop a version when the next one comes
    "SC2086",  # a list of packages is meant to be split
    "DL3003",  # a `cd` for one command
)


@pytest.mark.parametrize("algorithm", RECIPES)
def test_hadolint_finds_nothing(algorithm: str) -> None:
    program = Path(sys.executable).with_name("hadolint")
    ignored = [word for rule in IGNORED for word in ("--ignore", rule)]
    done = subprocess.run(
        [program, "--no-color", *ignored, DOCKER / algorithm / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""
