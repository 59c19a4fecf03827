"""A copy by DataSync where AWS, the user or somebody else does not do as expected."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.stub import Stubber

from training.aws.datasync import DataSync
from training.data.datasync.plan import Location, Transfer
from training.data.datasync.transfer import Running
from training.errors import AwsError, Interrupted, JobFailed

NAME = "mask-rcnn-s3-efs-0123456789ab"
_AT = "arn:aws:datasync:eu-west-1:123456789012"
TASK = f"{_AT}:task/task-0123456789abcdef0"
EXECUTION = f"{TASK}/execution/exec-0123456789abcdef0"
SOURCE, TARGET = (f"{_AT}:location/loc-0123456789abcdef{each}" for each in "01")
S3 = {"S3BucketArn": "arn:aws:s3:::bucket", "S3Config": {"BucketAccessRoleArn": "arn:aws:iam::1:r"}}
EFS = {
    "EfsFilesystemArn": "arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-0123abcd",
    "Ec2Config": {
        "SubnetArn": "arn:aws:ec2:eu-west-1:123456789012:subnet/subnet-1",
        "SecurityGroupArns": ["arn:aws:ec2:eu-west-1:123456789012:security-group/sg-1"],
    },
}
REPORT = {
    "Destination": {
        "S3": {
            "Subdirectory": "/reports/",
            "S3BucketArn": "arn:aws:s3:::bucket",
            "BucketAccessRoleArn": "arn:aws:iam::123456789012:role/datasync",
        }
    }
}
TRANSFER = Transfer(
    Location("s3", S3), Location("efs", EFS), {"Name": NAME, "TaskReportConfig": REPORT}
)
END = f"aws datasync cancel-task-execution --task-execution-arn {EXECUTION} --region eu-west-1"


class Aws:
    """DataSync: each request is the next that a test expects; what is left over fails."""

    def __init__(self) -> None:
        self.client = boto3.client(
            "datasync",
            region_name="eu-west-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )
        self.stub = Stubber(self.client)
        self.told: list[str] = []
        self.on_sleep: Callable[[], None] = lambda: None

    def says(self, operation: str, answer: dict[str, Any] | None = None, **sent: Any) -> None:
        self.stub.add_response(operation, answer or {}, sent or None)

    def refuses(
        self,
        operation: str,
        message: str,
        *,
        code: str = "InvalidRequestException",
        status: int = 400,
    ) -> None:
        self.stub.add_client_error(operation, code, message, http_status_code=status)

    def has_task(self, status: str = "AVAILABLE", **more: str) -> None:
        """Have `_find_or_make` find the task, and the next look see it so."""
        self.says("list_tasks", {"Tasks": [{"TaskArn": TASK, "Name": NAME, "Status": status}]})
        self.says("describe_task", {"TaskArn": TASK, "Status": status, **more}, TaskArn=TASK)

    def runs(self, status: str, **more: Any) -> None:
        answer = {"TaskExecutionArn": EXECUTION, "Status": status, **more}
        self.says("describe_task_execution", answer, TaskExecutionArn=EXECUTION)

    def takes_away(self) -> None:
        sides = {"SourceLocationArn": SOURCE, "DestinationLocationArn": TARGET}
        self.says("describe_task", {"TaskArn": TASK, "Status": "AVAILABLE", **sides}, TaskArn=TASK)
        self.says("delete_task", TaskArn=TASK)
        self.says("delete_location", LocationArn=SOURCE)
        self.says("delete_location", LocationArn=TARGET)

    def makes_locations(self) -> None:
        self.says("list_tasks", {"Tasks": []})
        self.says("create_location_s3", {"LocationArn": SOURCE})
        self.says("create_location_efs", {"LocationArn": TARGET})

    def run(self) -> dict[str, Any]:
        datasync = DataSync(self.client, self.client)
        running = Running(datasync, TRANSFER, self.told.append, sleep=lambda _: self.on_sleep())
        return running.run()


@pytest.fixture
def aws() -> Iterator[Aws]:
    made = Aws()
    with made.stub:
        yield made
    made.stub.assert_no_pending_responses()


def ctrl_c() -> None:
    raise KeyboardInterrupt


def sigterm() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("stop", [ctrl_c, sigterm])
def test_whoever_stops_watching_is_told_how_to_end_what_costs(
    stop: Callable[[], None], aws: Aws
) -> None:
    aws.has_task("RUNNING", CurrentTaskExecutionArn=EXECUTION)
    aws.runs("TRANSFERRING")
    aws.on_sleep = stop
    with pytest.raises(Interrupted, match=f"task {NAME} goes on") as caught:
        aws.run()
    assert END in str(caught.value)


@pytest.mark.parametrize("stop", [ctrl_c, sigterm])
def test_before_it_is_started_nobody_is_told_that_it_goes_on(
    stop: Callable[[], None], aws: Aws
) -> None:
    aws.has_task("CREATING")
    aws.on_sleep = stop
    with pytest.raises(Interrupted, match=r"whether DataSync's task .* runs is not known"):
        aws.run()


def test_ctrl_c_between_two_locations_leaves_none(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.says("list_tasks", {"Tasks": []})
    aws.says("create_location_s3", {"LocationArn": SOURCE})
    aws.says("delete_location", LocationArn=SOURCE)
    monkeypatch.setattr(aws.client, "create_location_efs", lambda **_: ctrl_c())
    with pytest.raises(Interrupted, match="this command has started nothing"):
        aws.run()


def test_a_task_that_nobody_has_heard_of_keeps_its_locations(aws: Aws) -> None:
    aws.makes_locations()
    aws.refuses("create_task", "fault", code="InternalException", status=500)
    with pytest.raises(AwsError, match="fault"):
        aws.run()


def test_what_cannot_be_tidied_does_not_hide_why_there_is_no_task(aws: Aws) -> None:
    aws.makes_locations()
    aws.refuses("create_task", "no such role")
    aws.refuses("delete_location", "in use")
    aws.says("delete_location", LocationArn=TARGET)
    with pytest.raises(AwsError, match="no such role"):
        aws.run()


def test_a_task_that_can_never_run_is_taken_away(aws: Aws) -> None:
    """It would be found again by the same command, and fail again, for ever."""
    aws.has_task("UNAVAILABLE", ErrorCode="X", ErrorDetail="cannot mount")
    aws.takes_away()
    with pytest.raises(JobFailed, match=r"cannot mount\. The same command makes another"):
        aws.run()


def test_the_same_command_elsewhere_that_was_quicker_is_followed(aws: Aws) -> None:
    aws.has_task()
    aws.refuses("start_task_execution", "already has an execution in progress")
    now = {"TaskArn": TASK, "Status": "RUNNING", "CurrentTaskExecutionArn": EXECUTION}
    aws.says("describe_task", now)
    aws.runs("SUCCESS")
    aws.takes_away()
    assert aws.run()["Status"] == "SUCCESS"


def test_a_task_that_does_not_start_does_not_stay(aws: Aws) -> None:
    aws.has_task()
    aws.refuses("start_task_execution", "Rate exceeded", code="ThrottlingException")
    aws.says("describe_task", {"TaskArn": TASK, "Status": "AVAILABLE"})
    aws.takes_away()
    with pytest.raises(AwsError, match="Rate exceeded") as caught:
        aws.run()
    assert "is not known" not in str(caught.value)


def test_a_start_without_an_answer_says_that_it_may_cost(aws: Aws) -> None:
    aws.has_task()
    aws.refuses("start_task_execution", "fault", code="InternalException", status=500)
    with pytest.raises(
        AwsError, match=r"Whether DataSync's task .* if it does, it goes on and costs"
    ):
        aws.run()


def test_a_network_that_goes_before_the_start_is_no_word_about_nothing(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task is there, with its network interfaces, and another command may run it."""

    def unplugged(**_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="https://datasync.eu-west-1.amazonaws.com")

    aws.has_task()
    monkeypatch.setattr(aws.client, "start_task_execution", unplugged)
    with pytest.raises(AwsError, match=r"Whether DataSync's task .* runs is not known"):
        aws.run()


def test_a_login_that_ends_meanwhile_says_that_it_goes_on(aws: Aws) -> None:
    aws.has_task("RUNNING", CurrentTaskExecutionArn=EXECUTION)
    aws.refuses("describe_task_execution", "expired", code="ExpiredTokenException")
    with pytest.raises(AwsError, match=r"it goes on\. Watch it again: the same command"):
        aws.run()


def test_a_task_that_goes_while_it_is_followed_is_no_refusal_of_aws(aws: Aws) -> None:
    """The same command in another terminal takes it away, once it has seen the end."""
    aws.has_task("RUNNING", CurrentTaskExecutionArn=EXECUTION)
    aws.refuses("describe_task_execution", f"Execution {EXECUTION} is not found.")
    with pytest.raises(Interrupted, match="is gone: the same command elsewhere saw its end"):
        aws.run()


def test_a_success_stays_one_where_its_task_cannot_be_taken_away(aws: Aws) -> None:
    aws.has_task("RUNNING", CurrentTaskExecutionArn=EXECUTION)
    aws.runs("SUCCESS")
    aws.refuses("describe_task", "denied", code="AccessDeniedException")
    assert aws.run()["Status"] == "SUCCESS"
    assert "may stay, and keep network interfaces in the VPC" in aws.told[-1]


def test_ctrl_c_while_it_tidies_up_says_what_stays(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.has_task("RUNNING", CurrentTaskExecutionArn=EXECUTION)
    aws.runs("SUCCESS")
    aws.says("describe_task", {"TaskArn": TASK})
    monkeypatch.setattr(aws.client, "delete_task", lambda **_: ctrl_c())
    with pytest.raises(Interrupted, match=f"tidying up.*{NAME} may stay"):
        aws.run()


def test_an_end_that_is_not_known_is_one_and_no_success(aws: Aws) -> None:
    aws.has_task("RUNNING", CurrentTaskExecutionArn=EXECUTION)
    aws.runs("ABANDONED", EndTime=1)
    aws.takes_away()
    with pytest.raises(JobFailed, match=r"it gives no reason \(status ABANDONED\)"):
        aws.run()


def test_answers_that_lack_members_are_borne(aws: Aws) -> None:
    aws.says("list_tasks", {"Tasks": [{"TaskArn": TASK}]})
    aws.says("create_location_s3", {"LocationArn": SOURCE})
    aws.says("create_location_efs", {"LocationArn": TARGET})
    aws.says("create_task", {"TaskArn": TASK})
    aws.says("describe_task", {})
    aws.says("start_task_execution", {"TaskExecutionArn": EXECUTION}, TaskArn=TASK)
    aws.says("describe_task_execution", {})
    aws.runs("SUCCESS")
    aws.says("describe_task", {})
    aws.says("delete_task", TaskArn=TASK)
    assert aws.run()["Status"] == "SUCCESS"


def test_the_task_is_found_on_a_later_page(aws: Aws) -> None:
    aws.says("list_tasks", {"Tasks": [{"TaskArn": SOURCE, "Name": "x"}], "NextToken": "more"})
    aws.has_task("RUNNING", CurrentTaskExecutionArn=EXECUTION)
    aws.runs("SUCCESS")
    aws.takes_away()
    assert aws.run()["Status"] == "SUCCESS"
