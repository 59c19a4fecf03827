"""ECR, with answers of its documented form."""

from __future__ import annotations

import base64

import boto3
import pytest
from botocore.stub import Stubber

from training.aws.ecr import Ecr, Token
from training.aws.errors import AwsRefused


@pytest.fixture
def ecr() -> tuple[Ecr, Stubber]:
    client = boto3.client(
        "ecr", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    stubber = Stubber(client)
    stubber.activate()
    return Ecr(client), stubber


def test_token_is_taken_apart_and_not_shown(ecr: tuple[Ecr, Stubber]) -> None:
    client, stubber = ecr
    data = {"authorizationToken": base64.b64encode(b"AWS:pass:word").decode()}
    stubber.add_response("get_authorization_token", {"authorizationData": [data]}, {})
    token = client.token()
    assert token == Token("AWS", "pass:word")
    assert "word" not in repr(token)
    stubber.assert_no_pending_responses()


def test_manifest_is_asked_for_by_its_tag(ecr: tuple[Ecr, Stubber]) -> None:
    client, stubber = ecr
    asked = {"repositoryName": "horovod", "imageIds": [{"imageTag": "t"}]}
    there = {"images": [{"imageManifest": "{}\n"}], "failures": []}
    missing = {"images": [], "failures": [{"failureCode": "ImageNotFound"}]}
    stubber.add_response("batch_get_image", there, asked)
    stubber.add_response("batch_get_image", missing, asked)
    assert client.manifest("horovod", "t") == "{}\n"
    assert client.manifest("horovod", "t") is None


def test_refusal_names_the_permission(ecr: tuple[Ecr, Stubber]) -> None:
    client, stubber = ecr
    stubber.add_client_error("get_authorization_token", "AccessDeniedException", "no")
    with pytest.raises(AwsRefused) as caught:
        client.token()
    assert caught.value.action == "ecr:GetAuthorizationToken"
