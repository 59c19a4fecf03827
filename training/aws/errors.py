"""Translates botocore's errors, once, into one of ours that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from training.errors import AwsError

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

_PERMISSION = "Your identity lacks this permission; ask for it, or use another profile"
_LOGIN = "The credentials have expired: log in again (aws sso login)"
_KEY = "The access key is not known: check the credentials (aws configure)"
_REGION = "This is in another region: set AWS_REGION to that one"
_CLOCK = "Set this machine's clock (date -u tells it): AWS takes no request of another time"
_SIGNATURE = "The secret key is wrong, or this machine's clock: check both (aws configure; date)"
_SLOWER = "AWS asks for fewer requests: wait a minute and run the command again"

_REMEDIES = {
    "AccessDenied": _PERMISSION,
    "UnauthorizedOperation": _PERMISSION,
    "AuthorizationError": _PERMISSION,
    # A HEAD request of S3 has no body to name the error in.
    "403": _PERMISSION,
    "ExpiredToken": _LOGIN,
    "RequestExpired": "The request came too late: check this machine's clock, or log in again",
    "RequestTimeTooSkewed": _CLOCK,
    "SignatureDoesNotMatch": _SIGNATURE,
    "InvalidSignature": _SIGNATURE,
    # Of EC2, for whatever is wrong with a signature.
    "AuthFailure": _SIGNATURE,
    "InvalidClientTokenId": _KEY,
    "UnrecognizedClient": _KEY,
    "InvalidAccessKeyId": _KEY,
    "OptInRequired": "The account has not enabled this region: choose another (AWS_REGION)",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraint": _REGION,
    "Throttling": _SLOWER,
    "Throttled": _SLOWER,
    "TooManyRequests": _SLOWER,
    "RequestLimitExceeded": _SLOWER,
    "SlowDown": _SLOWER,
    "ResourceLimitExceeded": "Ask for a higher quota (Service Quotas), ask for less, or wait until "
    "other jobs have ended",
    "ResourceInUse": "The name is taken: choose another",
    "NotImplemented": "A local AWS has only what this project uses",
}
"""By error code; some services end it in `Exception`."""


class AwsRefused(AwsError):
    """A service answered a request with an error."""

    def __init__(
        self, message: str, *, operation: str, code: str, request_id: str, status: int = 400
    ) -> None:
        super().__init__(message)
        self.operation = operation
        self.code = code
        self.request_id = request_id
        self.status = status
        """Of HTTP."""
        self.action: str | None = None
        """The IAM action that the request needed, where `training.aws.request` made it."""

    def __str__(self) -> str:
        """Say which permission is lacking, where the service itself does not: some never do."""
        message = super().__str__()
        if self.is_denial and self.action and self.action not in message:
            return f"{message} ({self.action})"
        return message

    @property
    def is_denial(self) -> bool:
        """Whether the identity lacks a permission."""
        return _remedy(self.code) == _PERMISSION

    @property
    def is_throttling(self) -> bool:
        """Whether AWS did nothing, since there were too many requests."""
        return _remedy(self.code) == _SLOWER

    @property
    def is_fault(self) -> bool:
        """Whether the service itself failed, so that it may have done what was asked all the same.

        https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html
        """
        return self.status >= 500

    @property
    def is_about_credentials(self) -> bool:
        """Whether other credentials than these are needed."""
        return _remedy(self.code) in (_LOGIN, _KEY)


class AwsUnreachable(AwsError):
    """No answer came."""

    may_have_arrived = False
    """Whether the request was sent, so that what it asks for may have been done."""


FOREIGN = "NotAnsweredByAws"
"""In the place of an error's code, where the answer is not one of AWS."""


class ForeignAnswer(AwsError):
    """Something answered that is not AWS, such as a proxy or a captive portal."""

    def __init__(self, operation: str, answer: str, *, place: str | None = None) -> None:
        """Args: `answer` is what is known of it; `place` is where the request was sent."""
        at = f"{place}: " if place else ""
        super().__init__(
            f"{at}{operation} was answered ({answer}), but not as AWS does. Is a proxy or captive "
            "portal in between? Check the network, HTTPS_PROXY and AWS_ENDPOINT_URL"
        )
        self.operation = operation
        self.answer = answer


class NoCredentials(AwsError):
    """There are no credentials, or they cannot be used."""


def may_pass(error: AwsError) -> bool:
    """Return whether the same request may succeed a little later."""
    if isinstance(error, AwsRefused):
        return error.is_throttling or error.is_fault
    return isinstance(error, AwsUnreachable | ForeignAnswer)


@contextmanager
def translated() -> Iterator[None]:
    """Raise our errors in place of botocore's.

    Raises:
        AwsRefused: A service refused; the exception has operation, code and request id.
        AwsUnreachable: No answer came.
        ForeignAnswer: An answer came that is not of AWS.
        NoCredentials: There are no credentials.
        AwsError: Another of botocore's errors.
    """
    # Not at the top: a plan must print in a quarter of a second, and this takes half of it.
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        raise _answered(error) from error
    except BotoCoreError as error:
        raise _no_answer(error) from error


def _answered(error: ClientError) -> AwsError:
    found = error.response.get("Error", {})
    if found.get("Code") == FOREIGN:
        return ForeignAnswer(error.operation_name, found["Message"])
    return refusal(error)


def refusal(error: ClientError) -> AwsRefused:
    """Return our error for a service's answer."""
    found = error.response.get("Error", {})
    code = found.get("Code", "Unknown")
    request_id = error.response.get("ResponseMetadata", {}).get("RequestId", "")
    message = f"{error.operation_name}: {found.get('Message') or 'refused'} ({code}"
    message += f", request {request_id})" if request_id else ")"
    if remedy := _CLOCK if _is_of_another_time(message) else _remedy(code):
        message += f". {remedy}"
    return AwsRefused(
        message,
        operation=error.operation_name,
        code=code,
        request_id=request_id,
        status=error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400),
    )


def _is_of_another_time(message: str) -> bool:
    """Return whether a service says that a request was signed too early or too late.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/signature-v4-troubleshooting.html
    """
    return "Signature expired" in message or "Signature not yet current" in message


def _remedy(code: str) -> str | None:
    for suffix in ("", "Exception"):
        if code.endswith(suffix) and (remedy := _REMEDIES.get(code.removesuffix(suffix))):
            return remedy
    return None


def _no_answer(error: BotoCoreError) -> AwsError:
    from botocore import exceptions

    if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
        return NoCredentials(
            f"{error}. Log in (aws configure, aws sso login), set AWS_PROFILE, or use a local AWS: "
            'eval "$(python -m localaws env)"'
        )
    if isinstance(error, exceptions.NoRegionError | exceptions.InvalidRegionError):
        is_none = isinstance(error, exceptions.NoRegionError)
        return NoCredentials(
            f"{'No region is set.' if is_none else error} Set AWS_REGION, for example "
            'AWS_REGION=us-east-1, or use a local AWS: eval "$(python -m localaws env)"'
        )
    if isinstance(error, exceptions.ProfileNotFound):
        return NoCredentials(f"{error}. Profiles are in ~/.aws/config; set AWS_PROFILE to one")
    if isinstance(error, exceptions.TokenRetrievalError | exceptions.SSOError):
        return NoCredentials(f"{error}. Log in again: aws sso login")
    if isinstance(error, exceptions.ConnectionError | exceptions.HTTPClientError):
        unreachable = _unreachable(error)
        unreachable.may_have_arrived = not isinstance(error, _no_connection())
        return unreachable
    return AwsError(str(error))


def _no_connection() -> tuple[type[Exception], ...]:
    """Return botocore's errors from before a request is sent."""
    from botocore import exceptions

    return (
        exceptions.EndpointConnectionError,
        exceptions.ConnectTimeoutError,
        exceptions.ProxyConnectionError,
        exceptions.SSLError,
    )


def _unreachable(error: BotoCoreError) -> AwsUnreachable:
    from botocore.exceptions import ReadTimeoutError

    # `endpoint_url` is there for every connection error of botocore that has one.
    endpoint = str(error.kwargs.get("endpoint_url", "AWS"))
    host = urlsplit(endpoint).hostname or ""
    if host in ("localhost", "127.0.0.1", "::1"):
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(endpoint))
        if isinstance(error, ReadTimeoutError):
            return AwsUnreachable(
                f"{origin}: something listens there, but did not answer in time. Run the command "
                "again; or restart what listens (a local AWS: python -m localaws stop, then "
                "start), or unset AWS_ENDPOINT_URL to use AWS"
            )
        return AwsUnreachable(
            f"{origin}: no local AWS answers. Start it (python -m localaws start), or unset "
            "AWS_ENDPOINT_URL to use AWS"
        )
    return AwsUnreachable(
        f"{endpoint}: cannot be reached ({error}). Check the network, a proxy (HTTPS_PROXY) and "
        "AWS_REGION"
    )
