"""The push command, with an engine and an ECR that only record."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.training.images.engines import CONFIG, DIGEST, MANIFEST, PASSWORD, EcrClient, Engines
from training.aws.ecr import Ecr
from training.errors import (
    AwsError,
    Interrupted,
    JobFailed,
    PreflightError,
    TrainingError,
    UsageError,
)
from training.images import publish, published, push, space, upload
from training.images.__main__ import app
from training.images.destination import Destination
from training.images.tag import image_tag, local_name

HOST = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
URI = f"{HOST}/mask-rcnn/horovod"
NAME = local_name("horovod")
TAGGED = f"{URI}:{image_tag('horovod')}"


@dataclass
class Place:
    """Where one test pushes from."""

    engines: Engines
    ecr: EcrClient
    outputs: Path
    pauses: list[float]

    def push(self, *arguments: str) -> Any:
        words = ["push", "--outputs-file", str(self.outputs), *arguments]
        done = CliRunner().invoke(app, words)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    def refused(self, kind: type[TrainingError], *arguments: str) -> str:
        with pytest.raises(kind) as caught:
            self.push(*arguments)
        assert PASSWORD not in str(caught.value)
        return str(caught.value)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    engines = Engines(tmp_path / "bin")
    engines.plan(images={NAME: CONFIG.removeprefix("sha256:")})
    keys = ("Horovod", "Tensorpack", "AwsSamples", "Tf2Smddp")
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps({"RegistryStack": {f"{key}RepositoryUri": URI for key in keys}}))
    made = Place(engines, EcrClient(engines), outputs, [])
    monkeypatch.setenv("PATH", str(engines.folder))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for an engine")
    monkeypatch.delenv("PIP_CERT", raising=False)
    monkeypatch.setattr(push, "connect", lambda _destination: SimpleNamespace(ecr=Ecr(made.ecr)))
    monkeypatch.setattr(space, "_GIB", 1)
    for name in ("upload", "find_pushed"):
        waiting = partial(getattr(publish, name), sleep=made.pauses.append)
        monkeypatch.setattr(publish, name, waiting)
    return made


def test_the_result_is_the_image_by_its_digest(place: Place) -> None:
    place.engines.install("podman")
    done = place.push()
    assert done.stdout == f"{URI}@{DIGEST}\n"
    assert f"image: {URI}@{DIGEST}" in done.stderr
    assert "2 layers, 3.5 MiB compressed" in done.stderr
    printed = json.loads(place.push("--format", "json").stdout)
    assert printed == {
        "image": f"{URI}@{DIGEST}",
        "repository": URI,
        "tag": image_tag("horovod"),
        "digest": DIGEST,
        "media_type": "application/vnd.docker.distribution.manifest.v2+json",
        "size_bytes": 3 * 1024**2 + 1024**2 // 2,
        "layers": [
            {"digest": "sha256:" + "1" * 64, "size_bytes": 3 * 1024**2},
            {"digest": "sha256:" + "2" * 64, "size_bytes": 1024**2 // 2},
        ],
        "built": False,
        "pushed": False,  # the first command did
        "is_local_image": True,
    }


@pytest.mark.parametrize("engine", ["podman", "buildah"])
def test_podman_and_buildah_push_dockers_format_signed_in_by_a_file_of_their_own(
    engine: str, place: Place
) -> None:
    place.engines.install(engine)
    place.push("--engine", engine)
    (login,), (pushed,) = place.engines.of("login"), place.engines.of("push")
    file = login["words"][2]
    assert login["words"] == [
        *("login", "--authfile", file, "--username", "AWS", "--password-stdin", HOST)
    ]
    digest = pushed["words"][6]
    assert pushed["words"] == [
        *("push", "--authfile", file, "--format", "v2s2", "--digestfile", digest),
        *(NAME, f"docker://{TAGGED}"),
    ]
    assert pushed["auth"] == "signed in"
    assert not Path(file).parent.exists()


def test_docker_pushes_with_settings_of_its_own_to_the_users_daemon(place: Place) -> None:
    place.engines.install("docker")
    place.push()
    (login,), (tag,), (pushed,) = (place.engines.of(each) for each in ("login", "tag", "push"))
    folder = login["words"][1]
    own = ["--config", folder, "--host", "unix:///run/user/1000/docker.sock"]
    assert login["words"] == [*own, "login", "--username", "AWS", "--password-stdin", HOST]
    assert tag["words"] == [*own, "tag", NAME, TAGGED]
    assert pushed["words"] == [*own, "push", TAGGED]
    # An entry that is there keeps docker from the desktop's key ring.
    assert json.loads(login["before"]) == {"auths": {HOST: {}}}
    assert not Path(folder).exists()


@pytest.mark.parametrize("engine", ["podman", "docker", "buildah"])
def test_the_token_is_in_standard_input_alone(engine: str, place: Place) -> None:
    place.engines.install(engine)
    place.engines.plan(push=[f"401 for {PASSWORD}: connection reset"])
    done = place.push()
    logins = place.engines.of("login")
    assert [call["stdin"] for call in logins] == [PASSWORD, PASSWORD]
    assert {call["folder_mode"] for call in logins} == {"0o700"}
    assert PASSWORD not in json.dumps([call["words"] for call in place.engines.calls])
    assert "401 for ***" in done.stderr
    assert PASSWORD not in done.output
    assert {tuple(call["aws"]) for call in place.engines.of("push")} == {()}


def test_an_image_that_is_not_here_is_built_first(place: Place) -> None:
    place.engines.install("podman")
    place.engines.plan(images={})
    done = place.push("--format", "json", "--base-image", "own:1")
    assert "BASE_IMAGE=own:1" in place.engines.of("build")[0]["words"]
    assert json.loads(done.stdout)["built"] is True
    assert place.engines.pushed == f"docker://{TAGGED}"


def test_an_image_that_is_there_is_neither_built_nor_pushed(place: Place) -> None:
    place.engines.install("podman")
    place.engines.plan(images={})
    place.ecr.manifest = MANIFEST
    printed = json.loads(place.push("--format", "json").stdout)
    assert (printed["built"], printed["pushed"], printed["is_local_image"]) == (False, False, None)
    assert [*place.engines.of("build"), *place.engines.of("login")] == []


def test_an_image_that_is_there_takes_no_engine(place: Place) -> None:
    place.ecr.manifest = MANIFEST
    assert place.push().stdout == f"{URI}@{DIGEST}\n"


@pytest.mark.parametrize(
    ("here", "is_same"),
    [(CONFIG, True), (CONFIG.removeprefix("sha256:"), True), (DIGEST, True), ("d" * 64, False)],
)
def test_another_build_of_the_same_sources_is_told(here: str, is_same: bool, place: Place) -> None:
    place.engines.install("docker")
    place.engines.plan(images={NAME: here})
    place.ecr.manifest = MANIFEST
    done = place.push("--format", "json")
    assert json.loads(done.stdout)["is_local_image"] is is_same
    assert ("another one" in done.stderr) is not is_same
    assert place.engines.pushed is None


def test_who_was_overtaken_takes_what_is_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.engines.install("podman")
    taken = f"tag invalid: The image tag 'x' already exists in the '{URI}' repository"
    place.engines.plan(push=[taken])
    answers = iter([None, published.read_manifest(MANIFEST)])
    monkeypatch.setattr(publish, "find", lambda *_: next(answers))
    printed = json.loads(place.push("--format", "json").stdout)
    assert (printed["digest"], printed["pushed"]) == (DIGEST, False)


@pytest.mark.parametrize(
    "said",
    [
        'Error: Get "https://x/v2/": dial tcp 10.0.0.1:443: connect: connection refused',
        "Error: writing blob: Put https://x: read tcp: connection reset by peer",
        "error parsing HTTP 503 response body",
        "unexpected EOF",
        "net/http: TLS handshake timeout",
        "dial tcp: lookup x on 10.0.0.2:53: no such host",
        "toomanyrequests: Rate exceeded",
        "denied: Your authorization token has expired. Reauthenticate and try again.",
    ],
)
def test_a_lost_connection_is_tried_again_with_a_new_token(said: str, place: Place) -> None:
    place.engines.install("podman")
    place.engines.plan(push=[said, said])
    assert place.push().stdout == f"{URI}@{DIGEST}\n"
    assert place.pauses == [2, 4]
    assert len(place.engines.of("login")) == 3


def test_a_registry_that_stays_away_is_one_error(place: Place) -> None:
    place.engines.install("podman")
    place.engines.plan(push=["dial tcp: i/o timeout"] * 5)
    assert place.refused(AwsError) == (
        f"{HOST}: cannot be reached, or did not go on (dial tcp: i/o timeout). Check the network "
        "and a proxy (HTTPS_PROXY), and in a VPC without internet its endpoints ecr.api, ecr.dkr "
        "and s3"
    )
    assert place.pauses == [2, 4, 8, 16]


@pytest.mark.parametrize(
    ("said", "kind", "texts"),
    [
        (
            "denied: User: arn:aws:iam::1:user/x is not authorized to perform: "
            "ecr:InitiateLayerUpload on resource: y",
            AwsError,
            [f"{URI}: your identity lacks the permission ecr:InitiateLayerUpload"],
        ),
        ("denied: requested access to the resource is denied", AwsError, ["ecr:PutImage"]),
        ("unauthorized: authentication required", AwsError, [f"{HOST}: the registry does not"]),
        (
            "name unknown: The repository with name 'x' does not exist in the registry",
            UsageError,
            ["cdk deploy RegistryStack"],
        ),
        (
            "writing /var/tmp/storage1: no space left on device",
            JobFailed,
            ["a disk is full", "GiB free", "podman system prune", "TMPDIR"],
        ),
        ("something new", AwsError, [f"{URI}: podman could not push: something new"]),
    ],
)
def test_a_refusal_is_one_message_and_no_second_try(
    said: str, kind: type[TrainingError], texts: list[str], place: Place
) -> None:
    place.engines.install("podman")
    place.engines.plan(push=[f"Copying blob sha256:{'5' * 64}\n{said}"])
    message = place.refused(kind)
    assert [text for text in texts if text not in message] == []
    assert place.pauses == []


def test_a_sign_in_that_is_refused_is_judged_alike(place: Place) -> None:
    place.engines.install("podman")
    place.engines.plan(login=[f"{PASSWORD}: unauthorized: authentication required"])
    assert "***: unauthorized" in place.refused(AwsError)
    assert place.engines.of("push") == []


def test_ecr_must_have_what_was_pushed(place: Place) -> None:
    place.engines.install("podman")
    other = "sha256:" + "f" * 64
    place.ecr.listed = other
    message = place.refused(AwsError)
    assert f"pushed {DIGEST}, manifest {DIGEST}, listed {other}" in message


def test_ecr_may_list_an_image_a_moment_late(place: Place) -> None:
    place.engines.install("podman")
    place.ecr.late = 4
    place.push()
    assert place.pauses == [1, 1, 1, 1]
    (place.engines.folder / "pushed").unlink()
    place.ecr.late = 99
    assert "ECR does not list it" in place.refused(AwsError)


def test_an_engine_that_tells_no_digest_is_an_error(place: Place) -> None:
    place.engines.install("podman")
    place.engines.plan(digest="")
    assert "has not told the digest" in place.refused(AwsError)


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("RepositoryNotFoundException", UsageError, "cdk deploy RegistryStack"),
        ("ExpiredTokenException", AwsError, "The credentials have expired: log in again"),
        ("AccessDeniedException", AwsError, "(ecr:BatchGetImage)"),
    ],
)
def test_what_ecr_refuses(code: str, kind: type[TrainingError], text: str, place: Place) -> None:
    place.engines.install("podman")
    place.ecr.error = code
    assert text in place.refused(kind)
    assert place.engines.calls == []


def test_no_engine_and_no_stack_are_said(place: Place) -> None:
    assert "there is no container engine here" in place.refused(PreflightError)
    place.outputs.write_text("{}")
    assert "cdk deploy RegistryStack" in place.refused(UsageError)


def test_a_manifest_that_sagemaker_may_refuse_is_told(place: Place) -> None:
    place.engines.install("podman")
    oci = MANIFEST.replace("docker.distribution", "oci.image").replace(".v2+json", ".v1+json")
    place.ecr.manifest = oci
    assert "warning: its manifest is application/vnd.oci.image.manifest.v1" in place.push().stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_push_that_is_stopped_leaves_no_token(
    number: signal.Signals, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.engines.install("podman")
    place.engines.plan(push=["i/o timeout"])
    stop = partial(upload.upload, sleep=lambda _seconds: os.kill(os.getpid(), number))
    monkeypatch.setattr(publish, "upload", stop)
    before = signal.getsignal(signal.SIGTERM)
    assert "run the same command to go on" in place.refused(Interrupted)
    assert signal.getsignal(signal.SIGTERM) is before
    assert not Path(place.engines.of("login")[0]["words"][2]).parent.exists()


def test_the_region_is_the_registrys() -> None:
    table = {
        HOST: "eu-west-1",
        "123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com": "us-gov-west-1",
        "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn": "cn-north-1",
        "123456789012.dkr-ecr.us-east-1.on.aws": "us-east-1",
        "127.0.0.1:5000": None,
        "ghcr.io": None,
    }
    assert {host: Destination(host, "x").region for host in table} == table
