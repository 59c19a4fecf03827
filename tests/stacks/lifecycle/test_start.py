"""What the scripts do at a start of the notebook instance."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.constructs.notebook_scripts import LONGEST_START_S, OnStartValues
from tests.stacks.lifecycle.instance import USER, VALUES, Instance, Start
from toolchain.notebook import wheels

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and changes owners"),
]

EFS = [
    "mount",
    "-t",
    "nfs4",
    "-o",
    "nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport",
    "fs-1.efs.eu-central-1.amazonaws.com:/",
    "/home/ec2-user/efs",
]
FSX = [
    "mount",
    "-t",
    "lustre",
    "-o",
    "relatime,flock",
    "fs-2.fsx.eu-central-1.amazonaws.com@tcp:/abcdefgh",
    "/home/ec2-user/fsx",
]
STATE = "/home/ec2-user/SageMaker/.distributed-mask-rcnn"


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    # pytest's own folders are closed to other users, and the notebook's user is one.
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    return Instance(tmp_path)


def environments(instance: Instance) -> list[Path]:
    return sorted((instance.volume / ".distributed-mask-rcnn").glob("environment-*"))


def assert_ready(start: Start) -> None:
    assert start.code == 0, start.printed
    assert "ERROR" not in start.printed + start.setup_log
    assert 'ready: the kernel "Distributed Mask R-CNN"' in start.setup_log


def test_a_start_mounts_efs_and_fsx_and_sets_the_package_up(instance: Instance) -> None:
    start = instance.start()

    assert_ready(start)
    assert sorted(start.calls_of("mount")) == sorted([EFS, FSX])
    for name in ("efs", "fsx", "fsx/data"):
        assert (start.home / name).stat().st_uid == USER
    assert start.calls_of("dnf") == [
        ["dnf", "install", "--assumeyes", "--quiet", "lustre-client"],
        ["dnf", "install", "--assumeyes", "--quiet", "python3.11"],
    ]
    source = f"/opt/distributed-mask-rcnn/{instance.values.source_sha256}"
    [environment] = environments(instance)
    inside = f"{STATE}/{environment.name}"
    assert start.calls_of("python") == [
        [
            *("python", "-m", "pip", "install", "--quiet", "--no-cache-dir"),
            *("--disable-pip-version-check", "--require-hashes"),
            *("--requirement", f"{source}/requirements-notebook.txt"),
        ],
        [
            *("python", "-m", "ipykernel", "install", "--user"),
            *("--name", "distributed-mask-rcnn", "--display-name", "Distributed Mask R-CNN"),
            *("--env", "AWS_REGION", "eu-central-1"),
        ],
    ]
    assert start.calls_of("python3.11") == [["python3.11", "-m", "venv", inside]]
    pth = environment / "lib/python3.11/site-packages/distributed-mask-rcnn.pth"
    assert pth.read_text() == f"{source}\n"
    assert (start.root / source.lstrip("/") / "training" / "launch.py").is_file()
    command = start.root / "bin" / "distributed-mask-rcnn"
    assert command.read_text() == f'#!/bin/bash\nexec "{inside}/bin/python" "$@"\n'
    assert command.stat().st_mode & 0o777 == 0o755
    assert (instance.volume / "distributed-mask-rcnn" / "jobs").is_dir()
    assert start.calls_of("systemd-run") == [
        [
            *("systemd-run", "--quiet", "--collect", "--unit=distributed-mask-rcnn-idle"),
            *("--on-active=5min", "--on-unit-active=5min"),
            *("python3", f"{source}/stacks/lifecycle/stop_when_idle.py"),
            *("--notebook", "vision", "--region", "eu-central-1", "--minutes", "120"),
        ]
    ]


def test_where_only_roles_are_root_on_efs_the_notebook_lets_all_others_write(
    instance: Instance,
) -> None:
    instance.values = replace(VALUES, efs_with_role="fs-1")
    start = instance.start()
    assert_ready(start)
    assert ["mount", "-t", "efs", "-o", "tls,iam", "fs-1:/", "/home/ec2-user/efs"] in start.calls
    # What it installs side by side has no order.
    installed = [call[-2:] for call in start.calls_of("dnf")]
    assert ["amazon-efs-utils", "lustre-client"] in installed
    assert (start.home / "efs").stat().st_mode & 0o7777 == 0o1777


def test_without_fsx_only_efs_is_mounted_and_no_client_installed(instance: Instance) -> None:
    instance.values = replace(VALUES, fsx_dns_name="", fsx_mount_name="")
    start = instance.start()
    assert_ready(start)
    assert start.calls_of("mount") == [EFS]
    assert not (start.home / "fsx").exists()
    assert [call[-1] for call in start.calls_of("dnf")] == ["python3.11"]


def test_the_next_start_mounts_again_and_installs_nothing_again(instance: Instance) -> None:
    instance.start()
    edited = instance.volume / "distributed-mask-rcnn" / "jobs" / "shapes-demo.yaml"
    edited.write_text("edited")

    start = instance.start()

    assert_ready(start)
    assert sorted(start.calls_of("mount")) == sorted([EFS, FSX])
    assert start.calls_of("python", "-m", "pip") == []
    assert len(start.calls_of("python", "-m", "ipykernel")) == 1
    assert len(environments(instance)) == 1
    assert edited.read_text() == "edited"


def test_another_run_during_the_same_start_changes_nothing(instance: Instance) -> None:
    first = instance.start()
    again = instance.run(first.root)
    assert_ready(again)
    assert again.calls_of("mount") == []
    assert again.calls_of("dnf") == [["dnf", "install", "--assumeyes", "--quiet", "python3.11"]]
    assert again.calls_of("aws") == []
    assert "/home/ec2-user/efs: mounted already" in again.printed
    stopped = again.calls.index(
        ["systemctl", "stop", "--quiet", "distributed-mask-rcnn-idle.timer"]
    )
    assert again.calls[stopped + 1][0] == "systemd-run"


@pytest.mark.parametrize(
    ("fault", "lost", "kept"),
    [("mount_nfs4", "efs", "fsx"), ("mount_lustre", "fsx", "efs")],
)
def test_a_file_system_that_cannot_be_mounted_is_told_and_all_else_goes_on(
    fault: str, lost: str, kept: str, instance: Instance
) -> None:
    start = instance.start(**{fault: "fail"})
    assert start.code == 0
    assert f"ERROR: /home/ec2-user/{lost} could not be mounted" in start.printed
    text = (start.home / lost / "NOT-MOUNTED.txt").read_text()
    assert "stream vision/LifecycleConfigOnStart" in text
    assert f"/home/ec2-user/{kept}: mounted" in start.printed
    assert 'ready: the kernel "Distributed Mask R-CNN"' in start.setup_log


def test_nothing_can_be_written_where_a_file_system_is_missing(instance: Instance) -> None:
    start = instance.start(mount_nfs4="fail")
    folder = (start.home / "efs").stat()
    assert (folder.st_uid, folder.st_mode & 0o777) == (0, 0o555)


def test_the_notebook_starts_within_the_time_limits_when_nothing_answers(
    instance: Instance,
) -> None:
    instance.values = replace(VALUES, download_timeout_s=1)
    start = instance.start(dnf="hang", aws="hang", mount_nfs4="hang", mount_lustre="hang")
    assert start.code == 0
    for said in (
        "ERROR: could not be installed: lustre-client",
        "ERROR: EFS is not mounted",
        "ERROR: FSx for Lustre is not mounted",
        "ERROR: s3://assets/source.zip could not be fetched",
    ):
        assert said in start.printed


def test_the_time_limits_leave_room_in_the_five_minutes_of_a_start() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(OnStartValues)}
    one_after_the_other = (fields["download_timeout_s"], fields["mount_timeout_s"])
    assert sum(limit + 5 for limit in one_after_the_other) < LONGEST_START_S - 60


def test_without_a_package_server_the_instance_still_stops_when_idle(instance: Instance) -> None:
    start = instance.start(dnf="fail")
    assert start.code == 0
    assert "ERROR: could not be installed: lustre-client" in start.printed
    assert "ERROR: the setup broke off" in start.setup_log
    assert start.calls_of("systemd-run") != []


def test_without_internet_packages_come_from_the_bucket_alone(instance: Instance) -> None:
    instance.values = replace(VALUES, wheels="s3://data/notebook/wheels")
    start = instance.start()
    assert_ready(start)
    assert start.calls_of("aws", "s3", "sync") == [
        [
            *("aws", "s3", "sync", "--region", "eu-central-1", "--only-show-errors"),
            *("s3://data/notebook/wheels", f"{STATE}/wheels"),
        ]
    ]
    [install] = start.calls_of("python", "-m", "pip")
    assert install[7:11] == ["--require-hashes", "--no-index", "--find-links", f"{STATE}/wheels"]


def test_a_link_that_a_user_has_made_on_fsx_gives_them_nothing_of_roots(
    instance: Instance,
) -> None:
    start = instance.start(mount_lustre="link")
    assert_ready(start)
    assert (start.home / "fsx" / "data").is_symlink()
    assert (start.root / "opt").stat().st_uid == 0


@pytest.mark.soak
def test_what_a_closed_notebook_installs_from_the_bucket_runs_the_launcher(
    instance: Instance, tmp_path: Path
) -> None:
    """With real Python, pip and wheels; the namespace has no network."""
    wheels(tmp_path / "wheels")
    instance.wheels = tmp_path / "wheels"
    instance.values = replace(VALUES, wheels="s3://data/notebook/wheels")
    start = instance.start("distributed-mask-rcnn", "-m", "training.launch", "--help")
    assert_ready(start)
    assert "--dry-run" in start.printed
    kernel = start.home / ".local/share/jupyter/kernels/distributed-mask-rcnn/kernel.json"
    described = json.loads(kernel.read_text())
    assert described["argv"][0].startswith(f"{STATE}/environment-")
    assert described["env"] == {"AWS_REGION": "eu-central-1"}


def test_an_installation_that_failed_is_made_anew_at_the_next_start(instance: Instance) -> None:
    failed = instance.start(pip="fail")
    assert failed.code == 0
    assert "ERROR: the setup broke off. Stop the notebook and start it" in failed.setup_log
    assert failed.calls_of("systemd-run") != []  # An instance that nobody can use stops too.
    assert failed.calls_of("python", "-m", "ipykernel") == []

    assert_ready(instance.start())
    assert len(environments(instance)) == 1


def test_other_requirements_make_another_environment_and_remove_the_old(
    instance: Instance, tmp_path: Path
) -> None:
    instance.start()
    [old] = environments(instance)
    old.rename(old.with_name("environment-of-before"))
    assert_ready(instance.start())
    assert environments(instance) == [old]


def test_a_source_that_is_not_what_was_deployed_is_never_run(instance: Instance) -> None:
    instance.values = replace(VALUES, source_sha256="0" * 64)
    start = instance.start()
    assert start.code == 0
    assert "ERROR: s3://assets/source.zip could not be fetched, or is not what was" in start.printed
    assert start.calls_of("systemd-run") == []
    assert sorted(start.calls_of("mount")) == sorted([EFS, FSX])


def test_a_source_that_cannot_be_fetched_does_not_keep_the_notebook_from_starting(
    instance: Instance,
) -> None:
    start = instance.start(aws="fail")
    assert start.code == 0
    assert "ERROR: s3://assets/source.zip could not be fetched" in start.printed
    assert start.setup_log == ""


def test_idle_minutes_of_0_keep_the_instance_running(instance: Instance) -> None:
    instance.values = replace(VALUES, idle_minutes=0)
    start = instance.start()
    assert_ready(start)
    assert start.calls_of("systemd-run") == []


def test_root_writes_nothing_where_the_user_could_have_laid_a_trap(
    instance: Instance, tmp_path: Path
) -> None:
    """The user of a notebook without root access must not become root at its next start."""
    target = tmp_path / "of-root"
    target.mkdir(mode=0o755)
    instance.volume.mkdir()
    os.chown(instance.volume, USER, USER)
    (instance.volume / ".distributed-mask-rcnn").symlink_to(target)
    (instance.volume / "distributed-mask-rcnn").symlink_to(target)

    start = instance.start()

    assert start.code == 0
    assert "ERROR: the setup broke off" in start.setup_log
    assert list(target.iterdir()) == []
    assert target.stat().st_uid == 0
