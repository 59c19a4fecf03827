"""An image goes to a real registry and comes back: signed in with ECR's token, by podman."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from tests.docker.containers.lite_image import IMAGE
from tests.docker.registry.conftest import Bench
from tests.docker.registry.docker_registry import OTHER_TOKEN
from training.images.recipes import RECIPES
from training.images.tag import image_tag, local_name

pytestmark = [pytest.mark.container, pytest.mark.slow]

TOKEN = "123456789012-auth-token"


def podman(bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        bench.engine.argv(*words),
        env={**os.environ, **bench.environ()},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def pushed(bench: Bench) -> dict[str, Any]:
    """The first push, which begins while the registry is down."""
    with bench.start("push") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "trying again in 2 s" in line:
                bench.registry.start()
        printed = process.stdout.read()
    assert process.returncode == 0, said
    assert "connection refused" in said
    assert TOKEN not in said + printed
    document: dict[str, Any] = json.loads(printed)
    return document


def test_what_was_pushed_is_named_by_its_digest(bench: Bench, pushed: dict[str, Any]) -> None:
    ecr = bench.aws.client("ecr")
    (listed,) = ecr.describe_images(repositoryName="mask-rcnn/horovod")["imageDetails"]
    assert listed["imageTags"] == [image_tag("horovod")]
    assert pushed["image"] == f"{bench.uri}@{listed['imageDigest']}"
    assert pushed["media_type"] == "application/vnd.docker.distribution.manifest.v2+json"
    assert (pushed["pushed"], pushed["built"], pushed["is_local_image"]) == (True, False, True)
    assert pushed["size_bytes"] == sum(layer["size_bytes"] for layer in pushed["layers"]) > 0


def test_the_token_is_kept_nowhere(bench: Bench, pushed: dict[str, Any]) -> None:
    kept = [path for name in ("home", "tmp") for path in (bench.root / name).rglob("*")]
    assert [path for path in kept if path.is_file()] == []
    assert podman(bench, "login", "--get-login", bench.registry.host).returncode != 0


def test_a_second_push_sends_nothing(bench: Bench, pushed: dict[str, Any]) -> None:
    again = bench.images("push")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == pushed | {"pushed": False}
    assert "there already, nothing to push" in again.stderr


def test_another_build_of_the_same_sources_is_told_from_the_one_there(
    bench: Bench, pushed: dict[str, Any]
) -> None:
    name = local_name("horovod")
    first = podman(bench, "image", "inspect", "--format", "{{.Id}}", name).stdout.strip()
    podman(bench, "commit", podman(bench, "create", name).stdout.strip(), name)
    try:
        done = bench.images("push")
    finally:
        podman(bench, "tag", first, name)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == pushed | {"pushed": False, "is_local_image": False}
    assert "another one" in done.stderr


def test_it_is_pulled_by_digest_and_runs(bench: Bench, pushed: dict[str, Any]) -> None:
    podman(bench, "rm", "--all", "--force")
    podman(bench, "rmi", "--all", "--force")
    sign_in = ("--creds", f"AWS:{TOKEN}")
    assert podman(bench, "pull", *sign_in, pushed["image"]).returncode == 0
    alone = ("--rm", "--pull", "never", "--network", "none", *bench.engine.limits())
    program = ("--entrypoint", "python3", pushed["image"], "/opt/mask-rcnn/entrypoint")
    ran = podman(bench, "run", *alone, *program)
    assert "usage: entrypoint train" in ran.stderr
    # The same image: other tests have it by its first name.
    podman(bench, "tag", pushed["image"], local_name("horovod"), IMAGE)
    assert json.loads(bench.images("push").stdout)["is_local_image"] is True


def test_list_says_what_is_built_and_pushed(bench: Bench, pushed: dict[str, Any]) -> None:
    done = bench.images("list")
    rows = {(row["algorithm"], row["variant"]): row for row in json.loads(done.stdout)}
    assert len(rows) == sum(len(recipe.variants) for recipe in RECIPES.values())
    assert rows["horovod", "gpu"]["image"] == pushed["image"]
    assert rows["horovod", "gpu"]["built"] is True
    assert rows["horovod", "cpu"]["image"] is None
    assert rows["horovod", "cpu"]["built"] is False


def test_a_token_that_the_registry_does_not_take_is_one_clear_error(
    bench: Bench, pushed: dict[str, Any]
) -> None:
    bench.registry.stop()
    bench.registry.start(OTHER_TOKEN)  # local AWS is not let in either, and sees no image
    bench.aws.client("ecr").batch_delete_image(
        repositoryName="mask-rcnn/horovod", imageIds=[{"imageTag": image_tag("horovod")}]
    )
    done = bench.images("push")
    assert done.returncode == 4
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"error: {bench.registry.host}: the registry does not take the token")
    assert TOKEN not in done.stderr
