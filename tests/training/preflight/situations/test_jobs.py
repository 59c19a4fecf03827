"""`python -m training.launch --dry-run` where something in the account is broken, and where not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import LocalAws
from tests.kubernetes_server import kubernetes_server
from tests.training.preflight.situations import on_ec2, on_eks, on_sagemaker
from tests.training.preflight.situations.account import account_in
from tests.training.preflight.situations.remembered import remember
from tests.training.preflight.situations.situation import (
    Situation,
    Sound,
    look,
    look_at_sound,
)
from tests.training.preflight.situations.sound import Base, make_base
from training.launch import app

TABLES = (on_sagemaker, on_ec2, on_eks)


@pytest.fixture(scope="module")
def made(local_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    """An account where all is as the stacks make it."""
    folder = tmp_path_factory.mktemp("laptop")
    with account_in(local_aws, folder) as account, kubernetes_server(folder) as kubernetes:
        account.patch.setenv("KUBECONFIG", str(kubernetes.kubeconfig))
        remember(account.patch, kubernetes)
        yield make_base(account, kubernetes)


@pytest.fixture
def base(made: Base) -> Iterator[Base]:
    made.kubernetes.requests.clear()
    yield made
    made.account.repair()


def name(each: Situation | Sound) -> str:
    return each.name


@pytest.mark.parametrize(
    "situation", [each for table in TABLES for each in table.SITUATIONS], ids=name
)
def test_what_is_broken_is_found_before_anything_starts(base: Base, situation: Situation) -> None:
    look(base, situation, app, "--dry-run")
    assert {verb for verb, _ in base.kubernetes.requests} <= {"GET"}


@pytest.mark.parametrize("sound", [each for table in TABLES for each in table.SOUND], ids=name)
def test_what_is_sound_is_not_flagged(base: Base, sound: Sound) -> None:
    look_at_sound(base, sound, app, "--dry-run")
