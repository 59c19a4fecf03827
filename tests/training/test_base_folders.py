"""Where the user's own files are."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.base_folders import base_folder
from training.jobs.record import Record, RecordTrouble
from training.kubernetes.tools import cache_folder
from training.prices.cache import price_cache

OURS = Path("distributed-mask-rcnn")


@pytest.mark.parametrize("relative", ["", "caches", "./caches", "../caches"])
def test_a_relative_path_is_ignored_as_the_specification_has_it(relative: str) -> None:
    environ = {"XDG_CACHE_HOME": relative, "XDG_STATE_HOME": relative, "HOME": "/home/me"}
    assert base_folder(environ, "XDG_CACHE_HOME") is None
    assert cache_folder(environ) == "/home/me/.cache" / OURS / "kubernetes"
    assert price_cache(environ) == "/home/me/.cache" / OURS / "prices"
    assert Record.of(environ).file == "/home/me/.local/state" / OURS / "jobs.jsonl"
    with pytest.raises(RecordTrouble):
        Record.of({"XDG_STATE_HOME": relative})


def test_an_absolute_path_goes_before_the_home_folder() -> None:
    environ = {"XDG_CACHE_HOME": "/caches", "XDG_STATE_HOME": "/states", "HOME": "/home/me"}
    assert cache_folder(environ) == "/caches" / OURS / "kubernetes"
    assert price_cache(environ) == "/caches" / OURS / "prices"
    assert Record.of(environ).file == "/states" / OURS / "jobs.jsonl"
