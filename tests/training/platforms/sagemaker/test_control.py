"""What the commands about jobs do with training jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.platforms.sagemaker.fake_aws import description, refused
from training.aws.errors import AwsUnreachable
from training.aws.sagemaker import JobPage
from training.errors import AwsError, UsageError
from training.platforms.sagemaker import control

OURS = {"Environment": {"MASK_RCNN_FINGERPRINT": "f" * 64}}
DENIED = refused("AccessDeniedException")


@dataclass
class Account:
    """A region's jobs, newest first, in pages of two; an error in place of one that is hidden."""

    jobs: dict[str, dict[str, Any] | AwsError]
    stopped: list[str] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)
    on_stop: Any = None

    @property
    def sagemaker(self) -> Account:
        return self

    def training_jobs(self, token: str | None) -> JobPage:
        first = int(token or 0)
        names = list(self.jobs)
        page = tuple({"TrainingJobName": name} for name in names[first : first + 2])
        return JobPage(page, str(first + 2) if first + 2 < len(names) else None)

    def training_job(self, name: str) -> dict[str, Any] | None:
        self.looked_at.append(name)
        found = self.jobs.get(name)
        if isinstance(found, AwsError):
            raise found
        return None if found is None else {"TrainingJobName": name, **found}

    def stop_training_job(self, name: str) -> None:
        self.stopped.append(name)
        if self.on_stop is not None:
            self.on_stop()
        self.jobs[name] = description("Stopping", "Stopping")


def running(**more: Any) -> dict[str, Any]:
    return description("InProgress", "Training", **more)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    made = Account({})
    clock = Clockwork()
    monkeypatch.setattr(control, "connect", lambda: made)
    monkeypatch.setattr(control, "Timer", lambda: clock.timer)
    return made


def test_only_jobs_of_this_program_are_listed_newest_first(account: Account) -> None:
    account.jobs = {"d": running(**OURS), "c": running(), "b": running(**OURS), "a": running()}
    assert [job.name for job in control.jobs(limit=20)] == ["d", "b"]


def test_no_more_jobs_are_looked_at_than_are_wanted(account: Account) -> None:
    account.jobs = {name: running(**OURS) for name in "edcba"}
    assert [job.name for job in control.jobs(limit=3)] == ["e", "d", "c"]
    assert account.looked_at == ["e", "d", "c"]


def test_jobs_that_may_not_be_seen_are_counted(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    account.jobs = {"c": DENIED, "b": running(**OURS), "a": DENIED}
    assert [job.name for job in control.jobs(limit=20)] == ["b"]
    assert capsys.readouterr().err.startswith("2 other jobs were left out: your identity may not")


def test_a_list_ends_somewhere_and_says_so(
    account: Account, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(control, "LOOKED_AT", 3)
    account.jobs = {name: running() for name in "edcba"}
    assert control.jobs(limit=20) == []
    assert capsys.readouterr().err == (
        "Older jobs than the newest 3 of this region were left out\n"
    )


def test_other_refusals_of_a_list_are_errors(account: Account) -> None:
    account.jobs = {"a": refused("ValidationException")}
    with pytest.raises(AwsError):
        control.jobs(limit=1)


def test_status_says_what_is_known(account: Account) -> None:
    made = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    account.jobs = {
        "a": description(
            "Failed",
            "Failed",
            hosts=4,
            CreationTime=made,
            TrainingEndTime=made,
            FailureReason="AlgorithmError: x",
            BillableTimeInSeconds=60,
        )
    }
    assert control.status("a").to_json() == {
        "name": "a",
        "status": "failed",
        "detail": "Failed",
        "message": "AlgorithmError: x",
        "machines": "4 x ml.p3.16xlarge",
        "created": "2026-01-02T03:04:05+00:00",
        "ended": "2026-01-02T03:04:05+00:00",
        "billing": "billed: 60 s x 4 x ml.p3.16xlarge",
        "model": None,
        "log": None,
    }


def test_a_job_that_is_hidden_may_also_be_one_that_is_not_there(account: Account) -> None:
    account.jobs = {"a": DENIED}
    with pytest.raises(AwsError, match="a job that is not there is refused like one of another"):
        control.status("a")
    with pytest.raises(UsageError, match="no training job of this name"):
        control.status("b")


def test_an_endpoint_that_is_down_is_told_after_some_attempts(account: Account) -> None:
    account.jobs = {"a": AwsUnreachable("x: cannot be reached")}
    with pytest.raises(AwsUnreachable):
        control.status("a")
    assert account.looked_at == ["a"] * control.ATTEMPTS


def test_a_running_job_is_asked_to_stop(account: Account) -> None:
    account.jobs = {"a": running()}
    assert control.stop("a").status == "stopping"
    assert account.stopped == ["a"]


@pytest.mark.parametrize("status", ["Completed", "Failed", "Stopped", "Stopping"])
def test_a_job_that_ends_already_is_left_as_it_is(account: Account, status: str) -> None:
    account.jobs = {"a": description(status, status)}
    assert control.stop("a").detail == status
    assert account.stopped == []


def test_a_job_that_ends_meanwhile_is_no_error(account: Account) -> None:
    def end() -> None:
        account.jobs["a"] = description("Completed", "Completed")
        raise refused("ValidationException")

    account.jobs = {"a": running()}
    account.on_stop = end
    assert control.stop("a").status == "completed"


def test_a_stop_that_is_not_allowed_is_an_error(account: Account) -> None:
    def deny() -> None:
        raise DENIED

    account.jobs = {"a": running()}
    account.on_stop = deny
    with pytest.raises(AwsError):
        control.stop("a")


@pytest.mark.parametrize(
    "name", ["", "a/b", "a b", "-a", "a-", "ñ", "a" * 64, "a" + "-" * 99 + "a", "a\n", "arn:aws:x"]
)
def test_a_name_that_no_job_can_have_is_not_asked_for(account: Account, name: str) -> None:
    with pytest.raises(UsageError, match="no training job has such a name: 1 to 63 letters"):
        control.status(name)
    assert account.looked_at == []
