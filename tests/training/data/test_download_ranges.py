from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.download.ranges import Range, Ranges, next_range

SIZE = 60
RANGE = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(lambda pair: tuple(sorted(pair)))
RANGES = st.lists(RANGE, max_size=12)


def bytes_of(ranges: Ranges | list[Range]) -> set[int]:
    return {byte for start, end in ranges for byte in range(start, end)}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), RANGE), max_size=15), RANGE)
def test_ranges_are_a_set_of_bytes(steps: list[tuple[bool, Range]], asked: Range) -> None:
    ranges, model = Ranges(), set[int]()
    for is_added, (start, end) in steps:
        part = set(range(start, end))
        if is_added:
            assert ranges.add(start, end) == len(part - model)
            model |= part
        else:
            ranges.remove(start, end)
            model -= part
        assert bytes_of(ranges) == model
        assert ranges.total() == len(model)
        flat = [edge for pair in ranges for edge in pair]
        assert flat == sorted(set(flat)), "in order, none empty, none touching"
    wanted = set(range(*asked))
    assert ranges.covers(*asked) == (wanted <= model)
    assert bytes_of(list(ranges.missing(*asked))) == wanted - model


@given(RANGES, RANGES, RANGES, st.integers(1, 20))
def test_each_byte_of_the_goals_is_fetched_once_in_pieces(
    there: list[Range], goals: list[Range], wanted: list[Range], piece: int
) -> None:
    taken = Ranges(there)
    fetched: list[Range] = []
    while part := next_range(wanted, goals, taken, piece):
        assert 0 < part[1] - part[0] <= piece
        assert taken.add(*part) == part[1] - part[0], "nothing is fetched twice"
        fetched.append(part)
    assert bytes_of(fetched) == (bytes_of(goals) | bytes_of(wanted)) - bytes_of(there)


def test_what_somebody_waits_for_goes_first_and_is_grown_to_a_piece_inside_its_goal() -> None:
    taken = Ranges([(0, 10)])
    assert next_range([(40, 42)], [(0, 100)], taken, 16) == (40, 56)
    taken.add(40, 56)
    assert next_range([(40, 42)], [(0, 100)], taken, 16) == (10, 26)


def test_a_wait_outside_of_all_goals_is_not_grown() -> None:
    assert next_range([(90, 92)], [(0, 50)], Ranges(), 16) == (90, 92)
    assert next_range([(90, 92)], [], Ranges(), 16) == (90, 92)
