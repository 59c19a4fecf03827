from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from training.maskrcnn.ahead import ahead


def test_results_come_in_the_order_of_the_items_whoever_is_ready_first() -> None:
    second_is_done = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            assert second_is_done.wait(5)
        if number == 1:
            second_is_done.set()
        return number * 10

    with ThreadPoolExecutor(2) as executor:
        results = [future.result() for future in ahead(executor, work, range(5), depth=3)]
    assert results == [0, 10, 20, 30, 40]


def test_no_more_items_are_begun_than_asked_for() -> None:
    begun: list[int] = []
    with ThreadPoolExecutor(1) as executor:
        futures = ahead(executor, begun.append, range(100), depth=3)
        next(futures).result()
    assert begun == [0, 1, 2, 3]


def test_an_error_belongs_to_its_item() -> None:
    def work(number: int) -> float:
        return 1 / number

    with ThreadPoolExecutor(1) as executor:
        first, broken, last = ahead(executor, work, [1, 0, 2], depth=1)
        assert (first.result(), last.result()) == (1, 0.5)
        with pytest.raises(ZeroDivisionError):
            broken.result()
