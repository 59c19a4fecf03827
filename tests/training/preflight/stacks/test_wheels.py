"""The packages of a notebook without PyPI."""

from __future__ import annotations

from tests.training.preflight.stacks.conftest import REGION, Stub, codes_of, only_finding_of
from tests.training.preflight.stacks.test_deployed_settings import described, missing
from training.aws.clients import Clients
from training.aws.cloudformation import CloudFormation
from training.aws.s3 import S3
from training.preflight.stacks.wheels import WheelsAreThere


def check(s3: S3, cloudformation: CloudFormation, bucket: str | None = "mine") -> WheelsAreThere:
    return WheelsAreThere(s3, cloudformation, bucket, "notebook/wheels")


def test_a_folder_with_something_in_it_passes_and_an_empty_one_is_a_warning(aws: Clients) -> None:
    s3 = aws.boto("s3")
    s3.create_bucket(Bucket="mine")
    s3.put_object(Bucket="mine", Key="notebook/wheels-of-others/a.whl", Body=b"")
    finding = only_finding_of(check(aws.s3, aws.cloudformation), "notebook-wheels-missing")
    assert finding.severity == "warning"
    assert finding.message.endswith("aws s3 sync wheels s3://mine/notebook/wheels")
    s3.put_object(Bucket="mine", Key="notebook/wheels/a.whl", Body=b"")
    assert codes_of(check(aws.s3, aws.cloudformation)) == []


def test_a_bucket_that_is_not_there_is_for_another_check_to_tell(aws: Clients) -> None:
    assert codes_of(check(aws.s3, aws.cloudformation)) == []


def test_without_a_name_it_is_the_bucket_of_the_stack_if_there_is_one(
    aws: Clients, stub: Stub
) -> None:
    aws.boto("s3").create_bucket(Bucket="made")
    method, answer, request = described("StorageStack", "CREATE_COMPLETE")
    assert isinstance(answer, dict)
    answer["Stacks"][0]["Outputs"] = [{"OutputKey": "BucketName", "OutputValue": "made"}]
    client = stub("cloudformation", (method, answer, request), missing("StorageStack"))
    there = check(aws.s3, CloudFormation(client), None)
    assert aws.region == REGION
    finding = only_finding_of(there, "notebook-wheels-missing")
    assert "s3://made/notebook/wheels" in finding.message
    assert codes_of(there) == []
