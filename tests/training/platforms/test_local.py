"""What a job on this machine would run."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.errors import UsageError
from training.job import read_job
from training.outputs import Outputs
from training.platforms import local
from training.platforms.api import Launch, Machine, Plan
from training.platforms.local import LocalRequest
from training.platforms.local_elastic import host_names

STORAGE = {
    "BucketName": "bucket-1",
    "EncryptionKeyArn": "arn:aws:kms:us-east-1:123456789012:key/1",
    "EfsId": "fs-0ef5",
    "EfsSecurityGroupId": "sg-1",
    "TrainingRoleArn": "arn:aws:iam::123456789012:role/training",
    "FsxId": "fs-0f5a",
    "FsxMountName": "abcdefgh",
    "FsxDnsName": "fs-0f5a.fsx.us-east-1.amazonaws.com",
    "FsxSubnetId": "subnet-1",
    "FsxAvailabilityZone": "us-east-1a",
    "FsxSecurityGroupId": "sg-2",
    "FsxDataPath": "/data",
}
OUTPUTS = Outputs({"StorageStack": STORAGE}, source="outputs.json")


def launch_on(cwd: Path, *, resume: bool = False, **environ: str) -> Launch:
    return Launch(
        now=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        resume=resume,
        machine=Machine(
            python=Path("/venv/bin/python"),
            project=Path("/project"),
            working_directory=cwd,
            cores=4,
            gpus=0,
            environ=environ,
        ),
    )


def plan(launch: Launch, **overrides: Any) -> Plan:
    return local.plan(read_job(None, overrides), OUTPUTS, launch)


def request(planned: Plan) -> LocalRequest:
    assert isinstance(planned.request, LocalRequest)
    return planned.request


def test_the_whole_command_of_two_processes(tmp_path: Path) -> None:
    planned = plan(launch_on(tmp_path), **{"instances.processes_per_instance": 2})
    assert planned.job_name == "mask-rcnn-s3-2026-01-02-03-04-05"
    log = tmp_path / "runs" / "log-2026-01-02-03-04-05"
    data = tmp_path / "runs/input/bucket-1/mask-rcnn/sagemaker/input/train"
    assert request(planned).argv == (
        *("/venv/bin/horovodrun", "-np", "2", "-H", "localhost:2", "--gloo"),
        *("--network-interfaces", "lo"),
        *("/venv/bin/python", "-m", "training.maskrcnn.train"),
        *("--data", str(data), "--log-dir", str(log)),
        *("--hyperparameters", str(log / "hyperparameters.json")),
        *("--engine", "horovod", "--resume", "never"),
    )
    assert request(planned).process_argv[0] == "/venv/bin/python"
    assert request(planned).env == {
        "OMP_NUM_THREADS": "2",
        "PYTHONPATH": "/project",
        "PYTHONUNBUFFERED": "1",
        "HOROVOD_CYCLE_TIME": "20",
    }
    assert request(planned).data_copied_from == "s3://bucket-1/mask-rcnn/sagemaker/input/train"
    assert request(planned).model_copied_to == (
        "s3://bucket-1/mask-rcnn/sagemaker/output/mask-rcnn-s3-2026-01-02-03-04-05/model.pt"
    )


def test_the_controller_and_the_interface_are_those_of_the_spec(tmp_path: Path) -> None:
    argv = request(
        plan(launch_on(tmp_path), **{"local.controller": "mpi", "local.network_interface": "eth0"})
    ).argv
    assert "--mpi" in argv
    assert "--gloo" not in argv
    assert argv[argv.index("--network-interfaces") + 1] == "eth0"


def test_an_elastic_job_gives_each_process_a_host_of_its_own(tmp_path: Path) -> None:
    planned = request(
        plan(
            launch_on(tmp_path),
            **{"instances.processes_per_instance": 3, "local.elastic.min_processes": 2},
        )
    )
    assert planned.argv[:13] == (
        *("/venv/bin/horovodrun", "-np", "3", "--min-np", "2", "--max-np", "3"),
        *("--blacklist-cooldown-range", "5", "60"),
        *("-H", "localhost:1,127.0.0.1:1,127.0.0.01:1", "--gloo"),
    )
    assert (planned.world_size, planned.max_world_size) == (3, 3)
    assert planned.process_argv[1:3] == ("-m", "training.maskrcnn.train")


def test_hosts_come_from_a_program_where_one_is_named_and_no_shell_reads_its_name(
    tmp_path: Path,
) -> None:
    planned = request(
        plan(
            launch_on(tmp_path),
            **{"local.elastic.host_discovery": "/x/my hosts;", "local.elastic.max_processes": 8},
        )
    )
    assert "-H" not in planned.argv
    at = planned.argv.index("--host-discovery-script")
    assert planned.argv[at + 1] == "'/x/my hosts;'"
    assert planned.max_world_size == 8


@pytest.mark.parametrize(
    ("options", "gpus", "message"),
    [
        ({"min_processes": 3}, 0, "from min_processes 3 to max_processes 2 is not possible for a"),
        ({"max_processes": 1}, 0, "from min_processes 1 to max_processes 1 is not possible for a"),
        ({"min_processes": 1}, 2, "local.elastic.host_discovery: None: on a machine with GPUs"),
    ],
)
def test_an_elastic_job_that_cannot_be_is_refused(
    tmp_path: Path, options: dict[str, int], gpus: int, message: str
) -> None:
    launch = launch_on(tmp_path)
    launch = replace(launch, machine=replace(launch.machine, gpus=gpus))
    overrides = {f"local.elastic.{name}": value for name, value in options.items()}
    with pytest.raises(UsageError, match=message):
        plan(launch, **{"instances.processes_per_instance": 2, **overrides})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"local.controller": "mpi", "local.elastic.min_processes": 1}, "elastic jobs need gloo"),
        ({"local.elastic.host_discovery": "hosts.sh"}, "give the whole path, from /"),
    ],
)
def test_elastic_options_are_checked_with_the_spec(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_job(None, overrides)


def test_the_names_of_this_machine_are_different_and_all_lead_here() -> None:
    names = host_names(6)
    assert len(set(names)) == 6
    assert {socket.gethostbyname(name) for name in names} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("source", "file_system", "below"), [("efs", "fs-0ef5", ""), ("fsx", "fs-0f5a", "data")]
)
def test_a_mounted_file_system_is_used_in_place(
    tmp_path: Path, source: str, file_system: str, below: str
) -> None:
    (tmp_path / file_system).mkdir()
    launch = launch_on(tmp_path, MASK_RCNN_MOUNTS=str(tmp_path))
    planned = plan(launch, data_source=source, name="job-1")
    root = tmp_path / file_system / below
    assert request(planned).data == root / "mask-rcnn/sagemaker/input/train"
    assert request(planned).log == root / "mask-rcnn/sagemaker/output/log-job-1"
    assert request(planned).data_copied_from is None


def test_a_file_system_that_is_not_mounted_is_a_finding_not_a_crash(tmp_path: Path) -> None:
    job = read_job(None, {"data_source": "efs"})
    planned = local.plan(job, OUTPUTS, launch_on(tmp_path))
    findings = list(local.check(job, planned, offline=True))
    # /venv/bin/horovodrun of this plan is made up.
    assert [finding.code for finding in findings] == ["horovod-missing", "file-system-not-mounted"]
    assert "fs-0ef5 is not mounted on this machine" in findings[1].message


def test_a_prefix_of_the_bucket_stands_before_the_channels_on_s3(tmp_path: Path) -> None:
    outputs = Outputs({"StorageStack": {**STORAGE, "BucketPrefix": "ml-platform"}}, source="test")
    overrides = {"channels.train": "data/coco2017", "channels.log": "logs", "name": "job-1"}
    planned = request(local.plan(read_job(None, overrides), outputs, launch_on(tmp_path)))
    assert planned.data_copied_from == "s3://bucket-1/ml-platform/data/coco2017"
    assert planned.model_copied_to == "s3://bucket-1/ml-platform/logs/job-1/model.pt"


def test_fsx_without_a_file_system_is_refused_with_what_to_do(tmp_path: Path) -> None:
    without = {key: value for key, value in STORAGE.items() if not key.startswith("Fsx")}
    outputs = Outputs({"StorageStack": without}, source="outputs.json")
    with pytest.raises(UsageError) as error:
        local.plan(read_job(None, {"data_source": "fsx"}), outputs, launch_on(tmp_path))
    assert str(error.value) == (
        "data_source: fsx: StorageStack has no FSx for Lustre file system: it was deployed with "
        "fsx = none. Take s3 or efs, or make one: cdk deploy StorageStack -c fsx=create (in "
        "cdk.json, take fsx out of context)"
    )


def test_the_data_source_changes_nothing_but_places(tmp_path: Path) -> None:
    for name in ("fs-0ef5", "fs-0f5a"):
        (tmp_path / name).mkdir()
    launch = launch_on(tmp_path, MASK_RCNN_MOUNTS=str(tmp_path))
    requests = [
        request(plan(launch, data_source=source, name="job-1")) for source in ("s3", "efs", "fsx")
    ]
    for one in requests[1:]:
        assert one.hyperparameters == requests[0].hyperparameters
        assert one.env == requests[0].env
        assert one.argv[:8] == requests[0].argv[:8]


def test_the_plan_is_the_same_each_time_and_plain_json(tmp_path: Path) -> None:
    first, second = plan(launch_on(tmp_path)), plan(launch_on(tmp_path))
    assert first == second
    document = first.request.to_json()
    assert json.loads(json.dumps(document))["world_size"] == 1


def test_planning_touches_nothing(tmp_path: Path) -> None:
    job = read_job(None, {})
    list(local.check(job, local.plan(job, OUTPUTS, launch_on(tmp_path)), offline=True))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"instances.type": "ml.p4d.24xlarge"}, "instances.type: ml.p4d.24xlarge"),
        ({"instances.count": 2}, "instances.count: 2"),
    ],
)
def test_machines_that_this_platform_has_not_are_refused(
    tmp_path: Path, overrides: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        plan(launch_on(tmp_path), **overrides)


@pytest.mark.parametrize(
    ("option", "value", "gpus", "message"),
    [
        ("gradient_compression", "bf16", 0, "'bf16': Horovod cannot add up bf16; choose fp16 or"),
        ("gradient_compression", "bf16", 2, "'bf16': Horovod cannot add up bf16; choose fp16 or"),
        ("horovod_hierarchical_allreduce", True, 0, "True: needs a Horovod that is built with"),
    ],
)
def test_what_horovod_cannot_do_here_is_refused_with_the_plan(
    tmp_path: Path, option: str, value: Any, gpus: int, message: str
) -> None:
    launch = launch_on(tmp_path)
    launch = replace(launch, machine=replace(launch.machine, gpus=gpus))
    with pytest.raises(UsageError) as refused:
        plan(launch, **{f"hyperparameters.{option}": value})
    assert str(refused.value).startswith(f"hyperparameters.{option}: {message}")
    assert list(tmp_path.iterdir()) == []


def test_hierarchical_sums_are_planned_on_gpus(tmp_path: Path) -> None:
    launch = launch_on(tmp_path)
    launch = replace(launch, machine=replace(launch.machine, gpus=2))
    planned = plan(launch, **{"hyperparameters.horovod_hierarchical_allreduce": True})
    assert request(planned).hyperparameters["horovod_hierarchical_allreduce"] is True


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples", "tf2-smddp"])
def test_an_algorithm_that_cannot_run_here_is_refused_with_where_it_can(
    tmp_path: Path, algorithm: str
) -> None:
    with pytest.raises(UsageError) as raised:
        plan(launch_on(tmp_path), algorithm=algorithm)
    message = str(raised.value)
    assert f"platform local: algorithm {algorithm} does not run there" in message
    assert "sagemaker" in message
    assert message.endswith("on local run horovod")


def test_the_learning_rate_is_worked_out_for_all_processes(tmp_path: Path) -> None:
    planned = plan(launch_on(tmp_path), **{"instances.processes_per_instance": 2})
    assert planned.learning_rates is not None
    assert planned.learning_rates.global_batch_size == 8


def test_a_job_goes_on_under_the_name_that_its_launch_has_shown(tmp_path: Path) -> None:
    first = plan(launch_on(tmp_path))
    second = plan(launch_on(tmp_path, resume=True), name=first.job_name)
    assert request(second).log == request(first).log == tmp_path / "runs/log-2026-01-02-03-04-05"
    assert second.job_name == first.job_name


def test_a_gpu_gets_a_process_and_horovods_own_cycle(tmp_path: Path) -> None:
    launch = launch_on(tmp_path)
    launch = replace(launch, machine=replace(launch.machine, gpus=3))
    assert request(plan(launch)).world_size == 3
    assert "HOROVOD_CYCLE_TIME" not in request(plan(launch)).env


@given(processes=st.integers(1, 64), cores=st.integers(1, 256))
def test_processes_never_take_more_threads_than_there_are_cores(processes: int, cores: int) -> None:
    launch = launch_on(Path("/somewhere"))
    launch = replace(launch, machine=replace(launch.machine, cores=cores))
    planned = request(plan(launch, **{"instances.processes_per_instance": processes}))
    threads = int(planned.env["OMP_NUM_THREADS"])
    assert threads >= 1
    assert threads * processes <= max(cores, processes)
    assert planned.argv[2] == str(processes) == planned.argv[4].removeprefix("localhost:")
