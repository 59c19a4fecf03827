"""Stacks for one test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Stack


@pytest.fixture
def new_stack(local_aws: LocalAws) -> Callable[[], Stack]:
    return lambda: Stack(local_aws)


@pytest.fixture
def stack(local_aws: LocalAws) -> Stack:
    return Stack(local_aws)
