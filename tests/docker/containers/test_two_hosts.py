"""Two containers, as two hosts: sshd, mpirun, Horovod and the trainer, launched as a user does."""

from __future__ import annotations

import io
import signal
import tarfile
from pathlib import Path

import pytest

from tests.conftest import LocalAws
from tests.docker.containers.lite_image import IMAGE, Podman
from tests.docker.containers.workbench import BUCKET, make_bench, steps, wait_for

pytestmark = [pytest.mark.container, pytest.mark.slow]


def nothing_left(podman: Podman, root: Path) -> bool:
    containers = podman.names("ps", "--all", "--format", "{{.Names}}")
    networks = podman.names("network", "ls", "--format", "{{.Name}}")
    return not containers and networks == ["podman"] and not [*(root / "runs/containers").iterdir()]


def test_a_stopped_job_goes_on_from_its_checkpoint_to_a_model_on_s3(
    podman: Podman, tmp_path: Path, local_aws: LocalAws
) -> None:
    # Steps enough that the job does not end before it hears of the signal.
    bench = make_bench(tmp_path, local_aws, podman.environ, train=30)
    log = bench.log("one")
    with bench.start("one", IMAGE) as launcher:
        wait_for(lambda: steps(log), launcher)
        launcher.send_signal(signal.SIGTERM)
        said = launcher.communicate(timeout=200)[1]
    assert launcher.returncode == 75, said
    assert "algo-2 | " in said
    assert max(steps(log)) < 30

    with bench.start("one", IMAGE, "--resume") as launcher:
        said = launcher.communicate(timeout=200)[1]
    assert launcher.returncode == 0, said
    # Not one step is done again.
    assert steps(log) == list(range(1, 31))
    assert "mAP(segm)/IoU=0.5:0.95: " in said
    s3 = local_aws.client("s3")
    found = [entry["Key"] for entry in s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
    (model,) = [key for key in found if key.endswith("/output/model.tar.gz")]
    data = s3.get_object(Bucket=BUCKET, Key=model)["Body"].read()
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert "model.pt" in archive.getnames()
    assert nothing_left(podman, tmp_path)


@pytest.mark.soak  # with a stand-in for podman, test_verdict.py and test_job_run.py show the same
def test_a_host_that_is_killed_fails_the_job_with_its_name(
    podman: Podman, tmp_path: Path, local_aws: LocalAws
) -> None:
    bench = make_bench(tmp_path, local_aws, podman.environ, train=200)
    with bench.start("two", IMAGE) as launcher:
        wait_for(lambda: steps(bench.log("two")), launcher)
        names = podman.names("ps", "--format", "{{.Names}}")
        (victim,) = [name for name in names if name.endswith("-algo-2")]
        podman.call("kill", "--signal", "KILL", victim)
        said = launcher.communicate(timeout=200)[1]
    assert launcher.returncode == 1, said
    assert "error: the job failed: algo-2: the container was ended by SIGKILL" in said
    assert nothing_left(podman, tmp_path)
