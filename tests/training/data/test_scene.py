from __future__ import annotations

import numpy as np
import pytest

from training.data.scene import LEAST_AREA_PX, LEAST_VISIBLE, SceneObject, draw_scene

SCENES = 60


@pytest.fixture(scope="module")
def objects() -> list[list[SceneObject]]:
    return [draw_scene(np.random.default_rng([7, n]), 128).objects for n in range(SCENES)]


def test_no_pixel_belongs_to_two_objects(objects: list[list[SceneObject]]) -> None:
    for shapes in objects:
        if shapes:
            assert np.sum([shape.visible for shape in shapes], axis=0).max() == 1


def test_every_object_stays_visible_enough_to_be_learnt(objects: list[list[SceneObject]]) -> None:
    for shape in (shape for shapes in objects for shape in shapes):
        visible = shape.visible.sum()
        assert visible >= LEAST_AREA_PX
        assert visible >= LEAST_VISIBLE * shape.full_area


def test_some_objects_hide_a_part_of_others(objects: list[list[SceneObject]]) -> None:
    hidden = [
        shape
        for shapes in objects
        for shape in shapes
        if shape.visible.sum() < 0.95 * shape.full_area
    ]
    assert len(hidden) > SCENES // 20


def test_picture_shows_each_object_in_a_colour_unlike_its_surroundings() -> None:
    scene = draw_scene(np.random.default_rng([7, 3]), 128)
    around = np.ones((128, 128), bool)
    for shape in scene.objects:
        around &= ~shape.visible
    for shape in scene.objects:
        contrast = scene.picture[shape.visible].mean(0) - scene.picture[around].mean(0)
        assert np.linalg.norm(contrast) > 20


def test_same_generator_state_draws_the_same_scene() -> None:
    first, second = (draw_scene(np.random.default_rng(5), 64) for _ in range(2))
    assert (first.picture == second.picture).all()
    assert len(first.objects) == len(second.objects)
