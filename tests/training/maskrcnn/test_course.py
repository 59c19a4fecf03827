"""What is due at which picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from training.maskrcnn.course import Course, Position
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.schedule import make_schedule

IMAGES = 100


def settings(**changes: Any) -> Hyperparameters:
    return read_hyperparameters(
        {"batch_size_per_gpu": 3, "lr_epoch_schedule": [[2, 0.1], [3, None]], **changes},
        source="test",
    )


def course(hyperparameters: Hyperparameters, world_size: int, position: Position) -> Course:
    schedule = make_schedule(hyperparameters, world_size=world_size, images_per_epoch=IMAGES)
    return Course(schedule, hyperparameters, position)


def walk(course: Course, is_due: Callable[[], bool]) -> list[int]:
    """Return the steps after which something is due."""
    due = []
    while not course.is_done:
        course.advance()
        if is_due():
            due.append(course.position.step)
    return due


def test_each_epoch_is_evaluated_once_and_the_end(tiny: Any) -> None:
    way = course(settings(), 2, Position())

    def evaluated() -> bool:
        if is_due := way.is_evaluation_due:
            way.take_score(0.5)
        return is_due

    # 100, 200 and 300 pictures, in steps of 6.
    assert walk(way, evaluated) == [17, 34, 50]


def test_checkpoints_follow_epochs_or_steps() -> None:
    way = course(settings(), 2, Position())
    assert walk(way, lambda: way.is_checkpoint_due) == [17, 34, 50]
    way = course(settings(checkpoint_period=20), 2, Position())
    assert walk(way, lambda: way.is_checkpoint_due) == [20, 40, 50]


def test_the_same_evaluation_made_again_is_still_the_best() -> None:
    way = course(settings(), 1, Position(step=4, images=12))

    def is_best(score: float) -> bool:
        answer = way.is_best(score)
        way.take_score(score)
        return answer

    assert [is_best(0.3), is_best(0.3)] == [True, True]
    way.advance()
    assert [is_best(0.3), is_best(0.2)] == [False, False]
    assert (way.position.best_score, way.position.best_step) == (0.3, 4)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 12)), max_size=6))
def test_whatever_the_number_of_ranks_was_steps_are_counted_on_and_the_end_is_the_same_picture(
    parts: list[tuple[int, int]],
) -> None:
    """Ranks come and go at any step, whether the batch divides what was seen or not."""
    hyperparameters, position = settings(), Position()
    for world_size, steps in parts:
        way = course(hyperparameters, world_size, position)
        for _ in range(steps):
            if not way.is_done:
                before = position.images
                way.advance()
                assert position.images == before + 3 * world_size
    way = course(hyperparameters, 1, position)
    last = way.last_step
    while not way.is_done:
        way.advance()
    assert position.step == last
    assert position.images >= 3 * IMAGES
    assert way.images_left == 0


def test_the_rate_is_that_of_the_picture_with_any_number_of_ranks() -> None:
    """And of the batch: twice the pictures in a step, twice the rate."""
    hyperparameters = settings(warmup_steps=0)
    for images, multiplier in ((0, 1), (199, 1), (204, 0.1)):
        one, two = (
            course(hyperparameters, size, Position(step=50, images=images)) for size in (1, 2)
        )
        assert one.learning_rate == hyperparameters.base_learning_rate * 3 / 8 * multiplier
        assert two.learning_rate == one.learning_rate * 2
