"""A training job of the local AWS, at moments of a clock of its own."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from moto.sagemaker.exceptions import ValidationError

from localaws.sagemaker import training_job
from localaws.sagemaker.job_list import list_jobs
from localaws.sagemaker.training_job import TrainingJob


class Clock:
    """Stands in for the module `time`."""

    now_s = 1_700_000_000.0

    def time(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(training_job, "time", made)
    return made


def make(
    name: str = "job-1", *, hosts: int = 1, ending: str = "Completed", **more: Any
) -> TrainingJob:
    request = {
        "TrainingJobName": name,
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out/"},
        "ResourceConfig": {"InstanceType": "ml.p3.16xlarge", "InstanceCount": hosts},
        "Environment": {"MASK_RCNN_FINGERPRINT": "f"},
        "Tags": [{"Key": "localaws:ending", "Value": ending}],
        **more,
    }
    return TrainingJob(name, f"arn:aws:sagemaker:us-east-1:1:training-job/{name}", request)


def test_a_job_lives_as_on_aws(clock: Clock) -> None:
    job, seen = make(), []
    for _ in range(7):
        found = job.to_dict()
        seen.append((found["TrainingJobStatus"], found["SecondaryStatus"]))
        clock.now_s += 1
    assert seen == [
        ("InProgress", "Starting"),
        ("InProgress", "Downloading"),
        ("InProgress", "Training"),
        ("InProgress", "Training"),
        ("InProgress", "Training"),
        ("InProgress", "Uploading"),
        ("Completed", "Completed"),
    ]


def test_a_description_has_what_was_asked_for_but_no_tags(clock: Clock) -> None:
    found = make().to_dict()
    assert found["Environment"] == {"MASK_RCNN_FINGERPRINT": "f"}
    assert found["ResourceConfig"]["InstanceCount"] == 1
    assert "Tags" not in found


def test_times_are_there_once_there_are_instances(clock: Clock) -> None:
    job = make(EnableManagedSpotTraining=True)
    assert "TrainingStartTime" not in job.to_dict()
    clock.now_s += 100
    found = job.to_dict()
    assert (found["TrainingTimeInSeconds"], found["BillableTimeInSeconds"]) == (5, 2)
    assert (found["TrainingEndTime"] - found["TrainingStartTime"]).total_seconds() == 5
    artifact = found["ModelArtifacts"]["S3ModelArtifacts"]
    assert artifact == "s3://bucket/out/job-1/output/model.tar.gz"


@pytest.mark.parametrize(
    ("ending", "reason"), [("Failed", "AlgorithmError: algo-1"), ("CapacityError", "CapacityError")]
)
def test_a_failure_has_a_reason(clock: Clock, ending: str, reason: str) -> None:
    job = make(ending=ending)
    clock.now_s += 100
    found = job.to_dict()
    assert found["TrainingJobStatus"] == "Failed"
    assert found["FailureReason"].startswith(reason)
    assert "ModelArtifacts" not in found


def test_a_stop_takes_a_moment_and_an_end_cannot_be_stopped(clock: Clock) -> None:
    job = make()
    clock.now_s += 3
    job.stop()
    job.stop()
    assert job.training_job_status == "Stopping"
    clock.now_s += 1
    assert job.to_dict()["SecondaryStatus"] == "Stopped"
    with pytest.raises(ValidationError, match=r"training job is in status Stopped\."):
        job.stop()


def test_every_host_writes_lines_while_the_job_trains(clock: Clock) -> None:
    job = make(hosts=2)
    assert list(job.lines()) == []
    clock.now_s += 3.2
    early = list(job.lines())
    clock.now_s += 100
    late = list(job.lines())
    # What was written does not change.
    assert late[: len(early)] == early
    assert {line.stream for line in late} == {
        "job-1/algo-1-1700000002",
        "job-1/algo-2-1700000002",
    }
    assert [line.time_s for line in late] == sorted(line.time_s for line in late)
    assert all("nothing trains here" in line.text for line in early[:2])
    assert [line.text for line in late[2::2]] == [f"line {number}" for number in range(1, 6)]


def test_a_job_that_goes_on_after_an_interruption_begins_another_stream(clock: Clock) -> None:
    job = make(ending="Interrupted")
    clock.now_s += 100
    assert {line.stream for line in job.lines()} == {
        "job-1/algo-1-1700000002",
        "job-1/algo-1-1700000006",
    }


def test_a_job_that_does_something_else_than_train_goes_well(clock: Clock) -> None:
    arguments = {"AlgorithmSpecification": {"ContainerArguments": ["folders", "--make", "a"]}}
    job = make(ending="Failed", **arguments)
    clock.now_s += 10
    assert job.training_job_status == "Completed"


def test_a_job_can_be_kept(clock: Clock) -> None:
    job = make(hosts=2)
    clock.now_s += 3
    again = pickle.loads(pickle.dumps(job))
    assert again.to_dict() == job.to_dict()
    assert list(again.lines()) == list(job.lines())


def names(answer: dict[str, Any]) -> list[str]:
    return [job["TrainingJobName"] for job in answer["TrainingJobSummaries"]]


def test_jobs_are_listed_in_an_order_page_by_page(clock: Clock) -> None:
    jobs = []
    for name in ("b", "c", "a"):
        jobs.append(make(name))
        clock.now_s += 10
    newest = {"SortOrder": "Descending", "MaxResults": 2}
    first = list_jobs(jobs, newest)
    assert names(first) == ["a", "c"]
    last = list_jobs(jobs, newest | {"NextToken": first["NextToken"]})
    assert (names(last), "NextToken" in last) == (["b"], False)
    assert names(list_jobs(jobs, {"SortBy": "Name"})) == ["a", "b", "c"]
    assert names(list_jobs(jobs, {"NameContains": "c"})) == ["c"]
    jobs.append(make("d"))
    assert names(list_jobs(jobs, {"StatusEquals": "InProgress"})) == ["d"]
