import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.report.chart import HEIGHT, WIDTH, Series, line_chart
from training.report.curve import Point

SVG = "{http://www.w3.org/2000/svg}"


def series(*pairs: tuple[float, float], name: str = "loss") -> Series:
    return Series(name, [Point(x, y, y, y) for x, y in pairs])


def drawn(*curves: Series) -> ElementTree.Element:
    return ElementTree.fromstring(str(line_chart("Loss", curves)))


def places(element: ElementTree.Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in element.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def test_a_falling_curve_falls_from_left_to_right():
    (line,) = drawn(series((0, 4.0), (50, 2.0), (100, 1.0))).iter(f"{SVG}polyline")
    xs, ys = zip(*places(line), strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys)  # y grows downwards


@given(
    st.lists(
        st.tuples(st.integers(0, 10**7), st.floats(-1e100, 1e100)),
        min_size=1,
        max_size=30,
        unique_by=lambda pair: pair[0],
    )
)
def test_every_curve_lies_within_its_chart(pairs: list[tuple[int, float]]):
    chart = drawn(series(*sorted(pairs)))
    for line in chart.iter(f"{SVG}polyline"):
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places(line))
    assert list(chart.iter(f"{SVG}text"))


def test_one_point_is_a_dot():
    chart = drawn(series((100, 0.5)))
    assert len(list(chart.iter(f"{SVG}circle"))) == 1
    assert not list(chart.iter(f"{SVG}polyline"))


def test_joined_samples_show_their_range():
    spread = Series("loss", [Point(1, 2, 1, 3, samples=2), Point(2, 2, 1, 3, samples=2)])
    assert len(list(drawn(spread).iter(f"{SVG}polygon"))) == 1
    assert not list(drawn(series((1, 2), (2, 2))).iter(f"{SVG}polygon"))


def test_a_wild_start_makes_the_axis_logarithmic():
    calm = [(step, 0.5) for step in range(1, 50)]
    labels = [text.text for text in drawn(series((0, 900.0), *calm)).iter(f"{SVG}text")]
    assert {"0.1", "1", "10", "100", "1000"} <= set(labels)


def test_the_summary_and_tooltips_tell_values():
    chart = drawn(series((10, 4.0), (20, 1.0)), series((10, 2.0), (20, 0.5), name="box"))
    assert chart.attrib["aria-label"] == (
        "Loss. loss from 4.00 at step 10 to 1.00 at step 20; "
        "box from 2.00 at step 10 to 0.500 at step 20"
    )
    titles = [title.text for title in chart.iter(f"{SVG}title")]
    assert titles == ["step 10\nloss: 4.00\nbox: 2.00", "step 20\nloss: 1.00\nbox: 0.500"]


def test_names_are_escaped():
    svg = str(line_chart('<script>"', [series((1, 1), name="<script>alert(1)</script>")]))
    assert "<script" not in svg
    assert "&lt;script&gt;alert(1)" in svg


@pytest.mark.parametrize("value", [0.0, 3.0, -2.0, 1e-9])
def test_a_flat_curve_has_an_axis(value: float):
    (line,) = drawn(series((0, value), (10, value))).iter(f"{SVG}polyline")
    assert len({y for _, y in places(line)}) == 1
    assert not re.search(r"nan|inf", ElementTree.tostring(line, encoding="unicode"))
