from __future__ import annotations

import os

import pytest

from training.maskrcnn.data_watch import DataWatch


def values(share: float) -> dict[str, float]:
    return {"data_wait_share": share, "images_per_second": 20.0}


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))


@pytest.mark.usefixtures("eight_cores")
def test_it_says_once_how_much_and_which_knob_but_not_while_workers_start() -> None:
    watch = DataWatch(num_workers=2, ranks_of_host=2)
    said = [watch.look(values(share)) for share in (0.9, 0.1, 0.5, 0.6)]
    assert [message is None for message in said] == [True, True, False, True]
    assert said[2] == (
        "loading data is the bottleneck: 50% of the time training waits for pictures; without "
        "that it would do about 40.0 img/s, not 20.0. Raise num_workers: 2 for each of 2 ranks, "
        "and this host has 8 cores"
    )


@pytest.mark.usefixtures("eight_cores")
def test_where_all_cores_load_already_it_names_another_way_out() -> None:
    watch = DataWatch(num_workers=4, ranks_of_host=2)
    watch.look(values(0.9))
    said = watch.look(values(0.9))
    assert said is not None
    assert "already takes this host's 8 cores: pack the pictures" in said
    assert "Raise num_workers" not in said
