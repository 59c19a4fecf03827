"""`python -m training.preflight --stacks` where something in the account is broken, or not."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.conftest import LocalAws
from tests.kubernetes_server import kubernetes_server
from tests.training.preflight.situations.account import PATIENCE_S, account_in
from tests.training.preflight.situations.of_stacks import REGION, SITUATIONS, SOUND, make_fit
from tests.training.preflight.situations.situation import (
    Situation,
    Sound,
    look,
    look_at_sound,
)
from tests.training.preflight.situations.sound import Base, make_network, make_storage
from training.preflight.__main__ import app


@pytest.fixture(scope="module")
def made(local_aws: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    """An account without stacks of ours, and things in it that settings can name."""
    folder = tmp_path_factory.mktemp("laptop")
    with (
        account_in(local_aws, folder, REGION) as account,
        kubernetes_server(folder) as kubernetes,
    ):
        made = Base(account, kubernetes, uuid4().hex[:8])
        make_network(made)
        make_storage(made)
        make_fit(made)
        yield made


@pytest.fixture
def base(made: Base) -> Iterator[Base]:
    yield made
    made.account.repair()


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.name)
def test_what_is_broken_is_found_before_a_deploy(base: Base, situation: Situation) -> None:
    look(base, situation, app, "--time-limit-s", str(PATIENCE_S))


@pytest.mark.parametrize("sound", SOUND, ids=lambda each: each.name)
def test_what_is_sound_is_not_flagged(base: Base, sound: Sound) -> None:
    look_at_sound(base, sound, app, "--time-limit-s", str(PATIENCE_S))
