"""botocore's errors as ours."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore import exceptions
from botocore.config import Config
from botocore.stub import Stubber

from training.aws.errors import AwsRefused, AwsUnreachable, NoCredentials, translated
from training.errors import AwsError, ExitCode


def client(service: str = "cloudformation", **more: Any) -> Any:
    return boto3.client(  # type: ignore[call-overload]
        service,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        **more,
    )


def refuse(code: str, message: str = "No.") -> AwsRefused:
    """Return the translation of a service's answer."""
    stubbed = client()
    with Stubber(stubbed) as stubber:
        stubber.add_client_error(
            "describe_stacks", code, message, response_meta={"RequestId": "r-1"}
        )
        with pytest.raises(AwsRefused) as raised, translated():
            stubbed.describe_stacks(StackName="One")
    return raised.value


def test_refusal_keeps_operation_code_request_and_cause() -> None:
    error = refuse("AccessDenied", "Not you.")
    assert (error.operation, error.code, error.request_id) == (
        "DescribeStacks",
        "AccessDenied",
        "r-1",
    )
    assert str(error).startswith("DescribeStacks: Not you. (AccessDenied, request r-1)")
    assert isinstance(error.__cause__, exceptions.ClientError)
    assert error.exit_code is ExitCode.AWS


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("AccessDenied", "another profile"),
        ("AccessDeniedException", "another profile"),
        ("UnauthorizedOperation", "another profile"),
        ("ExpiredToken", "aws sso login"),
        ("ExpiredTokenException", "aws sso login"),
        ("InvalidClientTokenId", "aws configure"),
        ("UnrecognizedClientException", "aws configure"),
        ("RequestTimeTooSkewed", "Set this machine's clock"),
        ("SignatureDoesNotMatch", "The secret key is wrong, or this machine's clock"),
        ("InvalidSignatureException", "The secret key is wrong, or this machine's clock"),
        ("AuthFailure", "The secret key is wrong, or this machine's clock"),
        ("Throttling", "wait a minute"),
        ("ThrottlingException", "wait a minute"),
        ("ThrottledException", "wait a minute"),
        ("PermanentRedirect", "AWS_REGION"),
        ("AuthorizationHeaderMalformed", "AWS_REGION"),
        ("OptInRequired", "AWS_REGION"),
        ("NotImplemented", "local AWS"),
        ("ResourceLimitExceeded", "Service Quotas"),
        ("ResourceInUse", "choose another"),
    ],
)
def test_common_refusals_say_what_to_do(code: str, remedy: str) -> None:
    assert remedy in str(refuse(code))


@pytest.mark.parametrize("code", ["SignatureDoesNotMatch", "InvalidSignatureException"])
@pytest.mark.parametrize("why", ["Signature expired: 20260101", "Signature not yet current: 2026"])
def test_a_clock_that_is_wrong_is_not_told_as_a_wrong_key(code: str, why: str) -> None:
    assert "Set this machine's clock" in str(refuse(code, why))
    assert "secret key" not in str(refuse(code, why))


def test_a_denial_names_the_action_that_the_service_does_not_name() -> None:
    for message, said in (
        ("No.", "use another profile (sagemaker:StopTrainingJob)"),
        ("Not allowed: sagemaker:StopTrainingJob", "use another profile"),
    ):
        error = refuse("AccessDeniedException", message)
        error.action = "sagemaker:StopTrainingJob"
        assert str(error).endswith(said)


@pytest.mark.parametrize(
    ("code", "traits"),
    [
        ("ThrottlingException", {"is_throttling"}),
        ("ExpiredTokenException", {"is_about_credentials"}),
        ("UnrecognizedClientException", {"is_about_credentials"}),
        ("AccessDenied", {"is_denial"}),
        ("ValidationException", set()),
    ],
)
def test_what_a_refusal_is_about(code: str, traits: set[str]) -> None:
    error = refuse(code)
    every = ("is_throttling", "is_about_credentials", "is_denial", "is_fault")
    assert {trait for trait in every if getattr(error, trait)} == traits


def test_a_fault_of_the_service_is_known_by_its_status() -> None:
    stubbed = client()
    with Stubber(stubbed) as stubber:
        stubber.add_client_error("describe_stacks", "X", "Oops.", http_status_code=503)
        with pytest.raises(AwsRefused) as raised, translated():
            stubbed.describe_stacks(StackName="One")
    assert raised.value.is_fault


@pytest.mark.parametrize(
    ("error", "may_have_arrived"),
    [
        (exceptions.EndpointConnectionError(endpoint_url="https://x.example/"), False),
        (exceptions.ConnectTimeoutError(endpoint_url="https://x.example/"), False),
        (exceptions.ProxyConnectionError(proxy_url="http://proxy.example"), False),
        (exceptions.SSLError(endpoint_url="https://x.example/", error="certificate"), False),
        (exceptions.ReadTimeoutError(endpoint_url="https://x.example/"), True),
        (exceptions.ConnectionClosedError(endpoint_url="https://x.example/"), True),
    ],
)
def test_whether_a_request_may_have_arrived_is_known(
    error: Exception, may_have_arrived: bool
) -> None:
    with pytest.raises(AwsUnreachable) as raised, translated():
        raise error
    assert raised.value.may_have_arrived is may_have_arrived


def test_unknown_refusal_is_told_as_it_is() -> None:
    assert str(refuse("Strange", "Odd.")) == "DescribeStacks: Odd. (Strange, request r-1)"


def test_local_endpoint_that_does_not_run_says_how_to_start_it() -> None:
    nobody = client(endpoint_url="http://127.0.0.1:9", config=Config(retries={"max_attempts": 0}))
    with pytest.raises(AwsUnreachable) as raised, translated():
        nobody.describe_stacks()
    message = str(raised.value)
    assert message.startswith("http://127.0.0.1:9: no local AWS answers.")
    assert "python -m localaws start" in message


@pytest.mark.parametrize(
    "error",
    [
        exceptions.EndpointConnectionError(endpoint_url="https://x.example/"),
        exceptions.ConnectTimeoutError(endpoint_url="https://x.example/"),
        exceptions.ReadTimeoutError(endpoint_url="https://x.example/"),
        exceptions.SSLError(endpoint_url="https://x.example/", error="certificate"),
        exceptions.ProxyConnectionError(proxy_url="http://proxy.example"),
    ],
)
def test_endpoint_that_cannot_be_reached_points_at_the_network(error: Exception) -> None:
    with pytest.raises(AwsUnreachable, match=r"cannot be reached .*HTTPS_PROXY"), translated():
        raise error


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (exceptions.NoCredentialsError(), "python -m localaws env"),
        (exceptions.PartialCredentialsError(provider="env", cred_var="key"), "aws configure"),
        (exceptions.NoRegionError(), "AWS_REGION=us-east-1"),
        (exceptions.InvalidRegionError(region_name="us east"), r"'us east'.* Set AWS_REGION"),
        (exceptions.ProfileNotFound(profile="mine"), "AWS_PROFILE"),
        (exceptions.UnauthorizedSSOTokenError(), "aws sso login"),
    ],
)
def test_missing_credentials_say_where_to_get_them(error: Exception, remedy: str) -> None:
    with pytest.raises(NoCredentials, match=remedy), translated():
        raise error


def test_other_errors_of_botocore_are_still_ours_and_others_pass() -> None:
    with pytest.raises(AwsError, match="Parameter validation failed"), translated():
        raise exceptions.ParamValidationError(report="x")
    with pytest.raises(KeyError), translated():
        raise KeyError("a bug")
