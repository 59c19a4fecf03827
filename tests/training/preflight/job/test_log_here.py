"""Checks of a log folder whose file system is mounted on the machine that launches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.training.jobs.test_record import job as recorded
from tests.training.platforms.ec2 import planning as on_ec2
from tests.training.platforms.eks import planning as on_eks
from tests.training.platforms.sagemaker import planning as on_sagemaker
from tests.training.preflight.job.test_pace import IN_TIME, LATE, leave, line
from tests.training.preflight.stacks.conftest import codes_of, findings_of
from training.data.mounts import MOUNTS_VARIABLE
from training.hyperparameter_text import to_texts
from training.jobs.record import Record
from training.platforms.api import Plan
from training.preflight.check import Check
from training.preflight.job import offline
from training.preflight.job.course import Course, course_of
from training.preflight.job.earlier_pace import EarlierPaceHereSuffices
from training.preflight.job.kept import JobInFolderIsTheSame
from training.preflight.job.pace import PaceInFolderSuffices

EFS = str(on_sagemaker.STACKS["StorageStack"]["EfsId"])
LOG = "mask-rcnn/sagemaker/output/log-mine"
TYPES = {on_ec2: "p4d.24xlarge", on_eks: "p4d.24xlarge", on_sagemaker: "ml.p4d.24xlarge"}
KINDS = (JobInFolderIsTheSame, PaceInFolderSuffices, EarlierPaceHereSuffices)

OPTIONS: dict[str, Any] = {
    "data_source": "efs",
    "instances__count": 2,
    # Of 8 pictures: 640,000 in all, in 10,000 steps of 64.
    "hyperparameters__lr_schedule": [48_000, 64_000, 80_000],
    "limits__max_run_s": 7_000,
}


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where EFS is mounted here, and keep the record of jobs apart."""
    (tmp_path / EFS).mkdir()
    monkeypatch.setenv(MOUNTS_VARIABLE, str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def planned(platform: ModuleType, *, resume: bool = False, **options: Any) -> tuple[Any, Plan]:
    told = {**OPTIONS, **options}
    environ = {MOUNTS_VARIABLE: str(options.pop("mounts", ""))}
    told.pop("mounts", None)
    launched = on_sagemaker.launch(resume=resume, **environ)  # type: ignore[arg-type]
    return platform.make_job(**told), platform.plan(launched=launched, **told)


def checks(job: Any, plan: Plan) -> list[Check]:
    return [each for each in offline.offline_checks(job, plan) if isinstance(each, KINDS)]


def lines(global_batch_size: int = 64) -> str:
    """Return 64 pictures a second, up to step 4000, where four of ten passes are done."""
    values = {"images_per_second": 64.0, "global_batch_size": global_batch_size}
    steps = range(3_000, 4_001, 100)
    return "".join(line(step, epoch=step / 1_000, values=values) for step in steps)


def leave_job(
    folder: Path, platform: ModuleType, *, global_batch_size: int = 64, **options: Any
) -> None:
    """Leave what a job has measured on two machines with eight GPUs each.

    That of EC2 is elastic, as it is by default, on workers with a head that only conducts.
    """
    folder.mkdir(parents=True)
    name = platform.__name__.split(".")[-2]
    request = {
        "instance_type": TYPES[platform] if platform is not on_ec2 else "m6i.xlarge",
        "hosts": ["one", "two"] if platform is not on_ec2 else ["head"],
        "distribution": "mpi" if platform is on_sagemaker else "elastic",
        "processes_per_host": 8,
    }
    record = {"platform": name, "request": request, "world_size": 16}
    leave(folder, record=record, lines=lines(global_batch_size))
    hyperparameters = platform.make_job(**{**OPTIONS, **options}).hyperparameters
    (folder / "hyperparameters.json").write_text(json.dumps(to_texts(hyperparameters)))


def remember(mounts: Path, log: str, platform: ModuleType) -> None:
    """Write down that a job was launched from here."""
    record = Record.of({"XDG_STATE_HOME": str(mounts / "state")})
    record.add(recorded(log=f"{EFS}:/{log}", instance_type=TYPES[platform]))


@pytest.mark.parametrize("platform", TYPES)
def test_a_job_that_goes_on_is_compared_and_held_against_its_pace(
    mounts: Path, platform: ModuleType
) -> None:
    leave_job(mounts / EFS / LOG, platform)
    remember(mounts, LOG, platform)
    # 6,000 steps of 64 pictures, 64 a second: 6,000 s.
    for limit_s, codes in ((6_000, IN_TIME), (5_999, LATE)):
        options = {"name": "mine", "limits__max_run_s": limit_s, "mounts": mounts}
        job, plan = planned(platform, resume=True, **options)
        same, pace = checks(job, plan)
        assert codes_of(same) == []
        assert codes_of(pace) == codes
    job, plan = planned(platform, resume=True, name="mine", mounts=mounts, hyperparameters__seed=7)
    assert codes_of(checks(job, plan)[0]) == ["resume-changes-hyperparameters"]


@pytest.mark.parametrize("platform", TYPES)
def test_a_new_job_is_held_against_the_pace_of_one_before(
    mounts: Path, platform: ModuleType
) -> None:
    leave_job(mounts / EFS / "output/log-before", platform, hyperparameters__seed=7)
    remember(mounts, "output/log-before", platform)
    job, plan = planned(platform, mounts=mounts, limits__max_run_s=9_999)
    plan = replace(plan, cost=replace(plan.cost, per_hour=48.0))
    [check] = checks(job, plan)
    estimate, late = findings_of(check)
    assert [estimate.code, late.code] == LATE
    assert estimate.message.startswith(
        "the 640,000 pictures that the schedule has to go take about 2.78 h and 133.33 USD on "
        "demand, at 64 pictures a second"
    )
    assert f"in {mounts / EFS}/output/log-before/metrics.jsonl" in late.message


@pytest.mark.parametrize("platform", TYPES)
def test_without_an_earlier_job_nothing_is_said(mounts: Path, platform: ModuleType) -> None:
    job, plan = planned(platform, mounts=mounts)
    assert checks(job, plan) == []


@pytest.mark.parametrize("platform", [on_ec2, on_eks])
@pytest.mark.parametrize("resume", [False, True])
def test_where_the_file_system_is_not_mounted_nothing_is_looked_for(
    mounts: Path, platform: ModuleType, *, resume: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_job(mounts / EFS / LOG, platform)
    remember(mounts, LOG, platform)
    monkeypatch.delenv(MOUNTS_VARIABLE)
    assert checks(*planned(platform, resume=resume, name="mine")) == []


@pytest.mark.parametrize("platform", [on_ec2, on_eks])
def test_a_cluster_job_has_its_log_on_efs_with_data_from_s3_too(
    mounts: Path, platform: ModuleType
) -> None:
    leave_job(mounts / EFS / LOG, platform)
    job, plan = planned(platform, resume=True, name="mine", data_source="s3")
    assert [type(each) for each in checks(job, plan)] == [*KINDS[:2]]


def course(platform: ModuleType, **options: Any) -> Course | None:
    stacks = options.pop("stacks", None)
    told = {**OPTIONS, **options}
    return course_of(platform.make_job(**told), platform.plan(stacks=stacks, **told))


@pytest.mark.parametrize("platform", TYPES)
def test_a_course_is_of_what_would_be_sent(platform: ModuleType) -> None:
    found = course(platform, hyperparameters__accumulation_steps=2)
    assert found is not None
    assert (found.instance_type, found.instances, found.world_size) == (TYPES[platform], 2, 16)
    assert (found.global_batch_size, found.images, found.max_run_s) == (128, 640_000, 7_000)


def test_a_head_that_takes_part_counts_where_it_is_of_the_workers_type() -> None:
    same = course(on_ec2, stacks=on_ec2.outputs(HeadInstanceType="p4d.24xlarge"))
    assert same is not None
    assert (same.instances, same.world_size) == (3, 24)
    assert course(on_ec2, stacks=on_ec2.outputs(HeadInstanceType="p4de.24xlarge")) is None


@pytest.mark.parametrize("platform", [on_ec2, on_eks])
def test_an_elastic_job_that_had_fewer_machines_at_last_tells_no_pace(
    mounts: Path, platform: ModuleType
) -> None:
    leave_job(mounts / EFS / LOG, platform, global_batch_size=32)
    remember(mounts, LOG, platform)
    _, pace = checks(*planned(platform, resume=True, name="mine", mounts=mounts))
    assert codes_of(pace) == []


def test_the_head_of_an_elastic_job_is_not_taken_for_its_workers(mounts: Path) -> None:
    leave_job(mounts / EFS / LOG, on_ec2)
    _, pace = checks(*planned(on_ec2, resume=True, name="mine", mounts=mounts))
    assert codes_of(pace) == []
