"""The build command, with an engine that only records."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from training.errors import JobFailed, PreflightError, UsageError
from training.images import space
from training.images.__main__ import app
from training.images.tag import image_tag, local_name

RECORDER = """#!{python}
import json, os, sys
from pathlib import Path
here = Path(__file__).parent
words = sys.argv[1:]
with (here / "calls").open("a") as calls:
    seen = sorted(os.listdir(words[-1])) if words[-1].startswith("/") else []
    calls.write(json.dumps([*words, seen]) + "\\n")
if "info" in words:
    print('{{"store": {{"graphRoot": "/"}}}}')
if "inspect" in words:
    sys.exit(0 if words[-1] in (here / "images").read_text().split() else 1)
if "build" in words:
    sys.exit(int((here / "code").read_text()))
"""


class Recorder:
    """The calls of an engine in a folder of programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "images").write_text("")
        (folder / "code").write_text("0")

    def install(self, *names: str) -> None:
        for name in names:
            program = self.folder / name
            program.write_text(RECORDER.format(python=sys.executable))
            program.chmod(0o755)

    def has(self, image: str) -> None:
        (self.folder / "images").write_text(image)

    def builds(self) -> list[list[str]]:
        lines = (self.folder / "calls").read_text().splitlines()
        return [words for words in map(json.loads, lines) if "build" in words]


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    made = Recorder(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder))
    monkeypatch.delenv("PIP_CERT", raising=False)
    monkeypatch.setattr(space, "_GIB", 1)  # any disk has room for some bytes
    return made


def build(*arguments: str) -> SimpleNamespace:
    done = CliRunner().invoke(app, ["build", *arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return SimpleNamespace(code=done.exit_code, stdout=done.stdout)


def value(words: list[str], option: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == option]


def test_the_whole_build_sees_only_the_sources(recorder: Recorder) -> None:
    recorder.install("docker")
    name = local_name("horovod", variant="cpu")
    assert build("--variant", "cpu", "--base-image", "debian:12").stdout == f"{name}\n"
    ((*words, context, seen),) = recorder.builds()
    assert words == [
        *("build", "--progress=plain", "--file", f"{context}/docker/horovod/Dockerfile"),
        *("--tag", name, "--build-arg", "VARIANT=cpu", "--build-arg", "BASE_IMAGE=debian:12"),
        *("--label", f"mask-rcnn.sources={image_tag('horovod')}-cpu"),
    ]
    assert seen == ["docker", "requirements-train.txt", "toolchain", "training"]
    assert not Path(context).exists()


def test_the_variant_with_smddp_has_its_own_dockerfile_and_one_of_amazons_bases(
    recorder: Recorder,
) -> None:
    recorder.install("podman")
    build("--variant", "smddp", "--region", "eu-west-1")
    ((*words, context, seen),) = recorder.builds()
    assert value(words, "--file") == [f"{context}/docker/horovod-smddp/Dockerfile"]
    assert value(words, "--tag") == [local_name("horovod", variant="smddp")]
    assert value(words, "--build-arg") == [
        "VARIANT=smddp",
        "BASE_IMAGE=763104351884.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:"
        "2.3.0-gpu-py311-cu121-ubuntu20.04-sagemaker",
    ]
    assert seen == ["docker", "training"]
    with pytest.raises(UsageError, match="docker/horovod-smddp needs what 763104351884"):
        build("--variant", "smddp", "--base-image", "debian")
    with pytest.raises(UsageError, match="the image of tensorpack has gpu, cpu only"):
        build("--algorithm", "tensorpack", "--variant", "smddp")


def test_an_image_that_is_here_is_not_built_again(recorder: Recorder) -> None:
    recorder.install("podman")
    name = local_name("horovod")
    recorder.has(name)
    printed = json.loads(build("--format", "json").stdout)
    expected = {"image": name, "tag": image_tag("horovod"), "engine": "podman", "built": False}
    assert printed == expected
    assert recorder.builds() == []


@pytest.mark.parametrize(
    ("installed", "asked", "taken"),
    [
        (("podman", "docker", "buildah"), (), "podman"),
        (("docker", "buildah"), (), "docker"),
        (("buildah",), (), "buildah"),
        (("podman", "buildah"), ("--engine", "buildah"), "buildah"),
    ],
)
def test_the_engine_is_the_first_that_answers_or_the_one_that_is_named(
    installed: tuple[str, ...], asked: tuple[str, ...], taken: str, recorder: Recorder
) -> None:
    recorder.install(*installed)
    assert json.loads(build("--format", "json", *asked).stdout)["engine"] == taken
    assert len(recorder.builds()) == 1


def test_no_engine_is_said_with_what_to_install(recorder: Recorder) -> None:
    (recorder.folder / "docker").write_text("#!/bin/sh\necho no daemon >&2\nexit 1\n")
    (recorder.folder / "docker").chmod(0o755)
    with pytest.raises(PreflightError) as caught:
        build()
    assert str(caught.value) == (
        "there is no container engine here that works: podman is not installed; docker is "
        "installed but says: no daemon; buildah is not installed. Install one of podman, docker, "
        "buildah (on Debian: apt-get install podman)."
    )


def test_too_little_space_names_path_have_and_need(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.install("podman")
    monkeypatch.setattr(space, "_GIB", 1024**3)
    monkeypatch.setattr(space.shutil, "disk_usage", lambda _path: SimpleNamespace(free=3 * 1024**3))
    with pytest.raises(PreflightError) as caught:
        build()
    lines = str(caught.value).splitlines()
    assert lines[0] == "/: 3.0 GiB free, 25 GiB needed to build the image"
    assert recorder.builds() == []


def test_a_certificate_is_a_secret_and_no_argument(recorder: Recorder, tmp_path: Path) -> None:
    recorder.install("podman")
    build("--ca-bundle", str(tmp_path / "own.pem"), "--torch-index", "https://own/cpu")
    (words,) = recorder.builds()
    assert value(words, "--secret") == [f"id=ca-bundle,src={tmp_path / 'own.pem'}"]
    assert "TORCH_INDEX=https://own/cpu" in value(words, "--build-arg")
    assert "own.pem" not in " ".join(value(words, "--build-arg"))


def test_layers_are_kept_in_a_repository(recorder: Recorder) -> None:
    recorder.install("podman", "docker")
    build("--cache", "127.0.0.1:5000/cache")
    (words,) = recorder.builds()
    assert value(words, "--cache-from") == ["127.0.0.1:5000/cache"]
    assert value(words, "--cache-to") == ["127.0.0.1:5000/cache"]
    with pytest.raises(UsageError, match="--cache: takes podman or buildah"):
        build("--cache", "127.0.0.1:5000/cache", "--engine", "docker")


def test_a_step_that_fails_is_a_failed_job(recorder: Recorder) -> None:
    recorder.install("podman")
    (recorder.folder / "code").write_text("3")
    with pytest.raises(JobFailed, match="docker/horovod/Dockerfile: podman ended with exit code 3"):
        build()


@pytest.mark.parametrize(
    ("arguments", "is_told"),
    [
        ((), True),
        (("--base-image", "127.0.0.1:5000/debian:bookworm-slim"), False),
        (("--algorithm", "tf2-smddp", "--base-image", "127.0.0.1:5000/tensorflow:2"), False),
    ],
)
def test_a_build_that_fails_names_the_way_without_docker_hub_where_there_is_one(
    arguments: tuple[str, ...], is_told: bool, recorder: Recorder
) -> None:
    recorder.install("podman")
    (recorder.folder / "code").write_text("125")
    with pytest.raises(JobFailed) as failed:
        build(*arguments)
    way = "debian:bookworm-slim could not be pulled, --base-image debian makes it from Debian's"
    assert (way in str(failed.value)) is is_told


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--algorithm", "yolo"), "'yolo' is not one of horovod, tensorpack"),
        (("--algorithm", "aws-samples", "--variant", "cpu"), "aws-samples has gpu only"),
        (("--variant", "tpu"), "horovod has gpu, cpu, gpu-arm64, cpu-arm64, smddp, notebook only"),
    ],
)
def test_what_no_image_is(arguments: tuple[str, ...], text: str, recorder: Recorder) -> None:
    with pytest.raises(UsageError, match=text):
        build(*arguments)


def test_the_base_image_is_that_of_the_region(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.install("podman")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    build("--algorithm", "tf2-smddp")
    build("--algorithm", "aws-samples", "--region", "cn-north-1")
    bases = [
        word.partition("=")[2]
        for words in recorder.builds()
        for word in value(words, "--build-arg")
        if word.startswith("BASE_IMAGE=")
    ]
    assert [base.partition("/")[0] for base in bases] == [
        "763104351884.dkr.ecr.eu-west-1.amazonaws.com",
        "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn",
    ]


def test_a_bare_debian_is_no_base_for_what_needs_amazons_image(recorder: Recorder) -> None:
    recorder.install("podman")
    with pytest.raises(UsageError, match=r"docker/aws-samples needs what 7631.* has"):
        build("--algorithm", "aws-samples", "--base-image", "debian", "--region", "us-east-1")
    assert recorder.builds() == []


def test_another_processor_is_told_to_the_engine_and_has_a_tag_of_its_own(
    recorder: Recorder,
) -> None:
    recorder.install("podman")
    build("--variant", "cpu-arm64")
    (words,) = recorder.builds()
    assert words[words.index("--platform") + 1] == "linux/arm64"
    assert "VARIANT=cpu" in words
    assert words[words.index("--tag") + 1] == local_name("horovod", variant="cpu-arm64")
    assert image_tag("horovod", variant="cpu-arm64").endswith("-cpu-arm64")
