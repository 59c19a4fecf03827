"""One synthetic picture of shapes, with the exact mask of what can be seen of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from colorsys import hsv_to_rgb
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from training.data.outline import Mask

Picture = NDArray[np.float32]
"""(H, W, 3) float32, RGB, 0..255."""

Corners = NDArray[np.float64]
"""(N, 2) float64, x and y of a polygon's corners."""

CATEGORIES = ("ellipse", "rectangle", "triangle", "star")
"""Category id 1 is the first."""

SMALLEST_PX = 24
"""Diameter of the smallest object: a smaller star cannot be told from a triangle."""
LARGEST_SHARE = 0.65
"""Of the picture's width: diameter of the largest object that is no close-up."""
LEAST_VISIBLE = 0.65
"""Of an object's area: more of it is never hidden by others."""
LEAST_AREA_PX = 60
OVERSAMPLING = 3
TRIES = 12

CROWD_MEMBER_PX = 14

OWN_HUE_SHARE = 0.95
"""Of the objects: their hue is near that of their category, as photographed things have colours and
textures of their own. Outlines alone take a network longer to learn than a trial may last."""
HUE_SPREAD = 0.04
"""Standard deviation of that hue, in turns of the colour wheel."""

EMPTY_SHARE = 0.06
CROWD_SHARE = 0.08
CLOSE_UP_SHARE = 0.08
MOST_OBJECTS = 6


@dataclass
class SceneObject:
    """One annotated object, or a crowd of them.

    Attributes:
        category_id: 1 and up, of `CATEGORIES`.
        visible: The pixels that nothing drawn later hides.
        full_area: Pixels in the frame before anything hid it.
        is_crowd: Whether these are many objects under one mask.
    """

    category_id: int
    visible: Mask
    full_area: int
    is_crowd: bool = False


@dataclass
class Scene:
    """A picture and what is on it, in the order of drawing."""

    picture: Picture
    objects: list[SceneObject] = field(default_factory=list)


def draw_scene(rng: np.random.Generator, size: int) -> Scene:
    """Return a random square scene of `size` pixels; the same generator state gives the same."""
    scene = Scene(_background(rng, size))
    if rng.random() < EMPTY_SHARE:
        return scene
    if rng.random() < CROWD_SHARE:
        _add_crowd(scene, rng, size)
    if rng.random() < CLOSE_UP_SHARE:
        _add_object(scene, rng, size, 0.9 * size, 1.2 * size)
    for _ in range(int(rng.integers(1, MOST_OBJECTS + 1))):
        _add_object(scene, rng, size, SMALLEST_PX, LARGEST_SHARE * size)
    return scene


def _add_object(
    scene: Scene, rng: np.random.Generator, size: int, smallest_px: float, largest_px: float
) -> None:
    """Draw one object where it hides little enough; leave the scene as it is if there is no room.

    Diameters are spread evenly over their logarithm, so that small ones are as common as in
    photographs.
    """
    category_id = int(rng.integers(1, len(CATEGORIES) + 1))
    for _ in range(TRIES):
        diameter = math.exp(rng.uniform(math.log(smallest_px), math.log(largest_px)))
        margin = min(0.35 * diameter, 0.45 * size)
        centre = rng.uniform(margin, size - margin, 2)
        coverage = _coverage(_corners(rng, category_id, diameter) + centre, size)
        mask = coverage >= 0.5
        area = int(mask.sum())
        if area >= LEAST_AREA_PX and _leaves_enough(scene, mask):
            _paint(scene, coverage, _colour(rng, category_id, scene.picture, mask), rng)
            _hide(scene, mask)
            scene.objects.append(SceneObject(category_id, mask, area))
            return


def _add_crowd(scene: Scene, rng: np.random.Generator, size: int) -> None:
    """Draw a heap of small objects of one category, annotated together."""
    category_id = int(rng.integers(1, len(CATEGORIES) + 1))
    spread = 0.14 * size
    middle = rng.uniform(2 * spread, size - 2 * spread, 2)
    together = np.zeros((size, size), bool)
    for _ in range(int(rng.integers(8, 15))):
        diameter = rng.uniform(0.6, 1.0) * CROWD_MEMBER_PX
        centre = middle + np.clip(rng.normal(0, spread, 2), -2 * spread, 2 * spread)
        coverage = _coverage(_corners(rng, category_id, diameter) + centre, size)
        mask = coverage >= 0.5
        _paint(scene, coverage, _colour(rng, category_id, scene.picture, mask), rng)
        together |= mask
    scene.objects.append(SceneObject(category_id, together, int(together.sum()), is_crowd=True))


def _leaves_enough(scene: Scene, mask: Mask) -> bool:
    for there in scene.objects:
        left = int((there.visible & ~mask).sum())
        if left < max(LEAST_VISIBLE * there.full_area, LEAST_AREA_PX):
            return False
    return True


def _hide(scene: Scene, mask: Mask) -> None:
    for there in scene.objects:
        there.visible &= ~mask


def _background(rng: np.random.Generator, size: int) -> Picture:
    """Return two colours that run into each other, with clouds and grain."""
    first, second = rng.uniform(30, 225, (2, 3))
    angle = rng.uniform(0, 2 * math.pi)
    across = np.linspace(-0.5, 0.5, size)
    ramp = 0.5 + across[None, :] * math.cos(angle) + across[:, None] * math.sin(angle)
    clouds = Image.fromarray(rng.normal(0, 14, (6, 6)).astype(np.float32))
    cloud = np.asarray(clouds.resize((size, size), Image.Resampling.BICUBIC))
    grain = rng.uniform(2, 8) * rng.standard_normal((size, size, 3), np.float32)
    picture = first + (second - first) * ramp[..., None] + cloud[..., None] + grain
    return np.asarray(np.clip(picture, 0, 255), np.float32)


def _colour(
    rng: np.random.Generator, category_id: int, picture: Picture, mask: Mask
) -> NDArray[np.float64]:
    """Return a colour that stands out from what it covers, mostly of the category's own hue."""
    behind = picture[mask].mean(axis=0) if mask.any() else picture.mean(axis=(0, 1))
    colour = _any_colour(rng, category_id)
    for _ in range(TRIES):
        if np.linalg.norm(colour - behind) >= 90:
            break
        colour = _any_colour(rng, category_id)
    return colour


def _any_colour(rng: np.random.Generator, category_id: int) -> NDArray[np.float64]:
    if rng.random() >= OWN_HUE_SHARE:
        return rng.uniform(10, 245, 3)
    turns = (category_id - 1) / len(CATEGORIES) + rng.normal(0, HUE_SPREAD)
    colour = hsv_to_rgb(turns % 1, rng.uniform(0.55, 1), rng.uniform(0.45, 1))
    return 255 * np.array(colour)


def _paint(
    scene: Scene,
    coverage: NDArray[np.float32],
    colour: NDArray[np.float64],
    rng: np.random.Generator,
) -> None:
    """Lay one shaded, grained shape over the picture."""
    rows = np.flatnonzero(coverage.any(axis=1))
    columns = np.flatnonzero(coverage.any(axis=0))
    if not len(rows):
        return
    box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height, width = coverage[box].shape
    angle = rng.uniform(0, 2 * math.pi)
    shade = 1 + 0.3 * (
        np.linspace(-0.5, 0.5, width)[None, :] * math.cos(angle)
        + np.linspace(-0.5, 0.5, height)[:, None] * math.sin(angle)
    )
    grain = 5 * rng.standard_normal((height, width, 3), np.float32)
    paint = np.clip(colour * shade[..., None] + grain, 0, 255)
    over = coverage[box][..., None]
    scene.picture[box] = scene.picture[box] * (1 - over) + paint * over


def _coverage(corners: Corners, size: int) -> NDArray[np.float32]:
    """Return how much of each pixel a polygon covers: (H, W) float32, 0..1."""
    canvas = Image.new("L", (size * OVERSAMPLING, size * OVERSAMPLING))
    points = [(x, y) for x, y in (corners * OVERSAMPLING).tolist()]
    ImageDraw.Draw(canvas).polygon(points, fill=255)
    return np.asarray(canvas.reduce(OVERSAMPLING), np.float32) / np.float32(255)


def _corners(rng: np.random.Generator, category_id: int, diameter: float) -> Corners:
    """Return a randomly turned outline around the origin."""
    unit = _OUTLINES[CATEGORIES[category_id - 1]](rng)
    angle = rng.uniform(0, 2 * math.pi)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    return np.asarray(unit @ turn.T * (diameter / 2))


def _ring(corners: int) -> Corners:
    angles = 2 * math.pi * np.arange(corners) / corners
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _ellipse(rng: np.random.Generator) -> Corners:
    return _ring(48) * [1, rng.uniform(0.65, 1)]


def _rectangle(rng: np.random.Generator) -> Corners:
    half_height = rng.uniform(0.5, 1)
    corners = np.array([[-1, -half_height], [1, -half_height], [1, half_height], [-1, half_height]])
    return corners / math.hypot(1, half_height)


def _triangle(rng: np.random.Generator) -> Corners:
    return _ring(3) * [1, rng.uniform(0.8, 1)]


def _star(rng: np.random.Generator) -> Corners:
    corners = _ring(10)
    corners[1::2] *= rng.uniform(0.38, 0.5)
    return corners


_OUTLINES: dict[str, Callable[[np.random.Generator], Corners]] = {
    "ellipse": _ellipse,
    "rectangle": _rectangle,
    "triangle": _triangle,
    "star": _star,
}
