"""Requests that are made again, and those that are not."""

from __future__ import annotations

from itertools import islice
from typing import cast

import pytest

from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.platforms.sagemaker.fake_aws import Failing, refused
from training.aws.clients import Clients
from training.aws.errors import AwsUnreachable, ForeignAnswer, NoCredentials, may_pass
from training.errors import AwsError
from training.platforms.common.patience import Patience, connect, pauses


class Asked:
    """A request that fails as it is told to, and notes with which clients it was made."""

    def __init__(self, *errors: AwsError | None) -> None:
        self._fail = Failing(*errors)
        self.clients: list[str] = []

    def __call__(self, clients: Clients) -> str:
        self.clients.append(str(clients))
        self._fail()
        return "answer"


def patience(clock: Clockwork, told: list[str], *, attempts: int | None = None) -> Patience:
    return Patience(
        cast(Clients, "first"),
        reconnect=lambda: cast(Clients, "new"),
        tell=told.append,
        timer=clock.timer,
        attempts=attempts,
    )


def test_pauses_grow_to_a_minute() -> None:
    assert list(islice(pauses(), 8)) == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (refused("ThrottlingException"), True),
        (refused("RequestLimitExceeded"), True),
        (refused("InternalFailure", status=500), True),
        (refused("ServiceUnavailable", status=503), True),
        (AwsUnreachable("x"), True),
        (ForeignAnswer("X", "HTTP 502"), True),
        (refused("AccessDenied"), False),
        (refused("ExpiredToken"), False),
        (refused("ValidationException"), False),
        (NoCredentials("x"), False),
    ],
)
def test_what_may_pass(error: AwsError, passes: bool) -> None:
    assert may_pass(error) is passes


def test_a_command_gives_up_after_its_attempts() -> None:
    clock, told, asked = Clockwork(), list[str](), Asked(*[AwsUnreachable("gone")] * 9)
    with pytest.raises(AwsUnreachable, match="gone"):
        patience(clock, told, attempts=4).ask(asked)
    assert (len(asked.clients), clock.waits_s) == (4, [1, 2, 4])
    assert told == ["no good answer, trying again: gone"]


def test_each_request_has_all_its_attempts() -> None:
    clock = Clockwork()
    asking = patience(clock, [], attempts=2)
    for _ in range(3):
        assert asking.ask(Asked(AwsUnreachable("gone"))) == "answer"
    assert clock.waits_s == [1, 1, 1]


def test_new_clients_are_made_once_for_credentials_and_kept() -> None:
    asking = patience(Clockwork(), [])
    asked = Asked(refused("ExpiredTokenException"))
    assert asking.ask(asked) == "answer"
    later = Asked()
    asking.ask(later)
    assert (asked.clients, later.clients) == (["first", "new"], ["new"])


def test_clients_that_connect_makes_send_a_request_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    config = connect().boto("sagemaker").meta.config
    assert config.retries["total_max_attempts"] == 1
