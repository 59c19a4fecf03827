from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data.bulk_plan import LEAST_FILES, Ends, choose, commands, whole_folders
from training.data.s5cmd import LARGEST_BYTES
from training.data.side import FileState

UP = Ends("/data/set", "s3://bucket/train", upload=True)
DOWN = Ends("/mnt/efs/train", "s3://bucket/train", upload=False)
MANY = [f"train2017/{number}.jpg" for number in range(LEAST_FILES)]


def test_a_folder_of_which_all_is_to_be_copied_is_one_command() -> None:
    assert list(commands(MANY, [*MANY, "a.txt"], UP)) == [
        "cp '/data/set/train2017/' 's3://bucket/train/train2017/'"
    ]
    assert list(commands(MANY, MANY, DOWN)) == [
        "cp --concurrency 1 's3://bucket/train/train2017/*' '/mnt/efs/train/train2017/'"
    ]


def test_a_folder_of_which_some_is_there_goes_file_by_file() -> None:
    found = list(commands(MANY[:2], MANY, UP))
    assert found == [
        "cp --raw --concurrency 1 '/data/set/train2017/0.jpg' 's3://bucket/train/train2017/0.jpg'",
        "cp --raw --concurrency 1 '/data/set/train2017/1.jpg' 's3://bucket/train/train2017/1.jpg'",
    ]


def test_the_topmost_folder_is_taken_and_never_the_root() -> None:
    deep = [f"a/b/{number}" for number in range(LEAST_FILES)]
    assert whole_folders(deep, deep) == {"a": LEAST_FILES}
    flat = [str(number) for number in range(LEAST_FILES)]
    assert whole_folders(flat, flat) == {}


@pytest.mark.parametrize("odd", ["train2017/*.jpg", "train2017/what?.jpg"])
def test_a_folder_with_a_name_that_is_a_pattern_goes_file_by_file(odd: str) -> None:
    paths = [*MANY, odd]
    assert len(list(commands(paths, paths, DOWN))) == len(paths)


@pytest.mark.parametrize(
    "ends",
    [
        Ends("/data/*", "s3://bucket/train", upload=True),
        Ends("/data", "s3://bucket/what?", upload=True),
    ],
)
def test_no_pattern_is_made_of_a_place_that_looks_like_one(ends: Ends) -> None:
    assert len(list(commands(MANY, MANY, ends))) == len(MANY)


def test_large_files_and_names_with_line_breaks_are_left_to_others() -> None:
    files = {
        "small": FileState(LARGEST_BYTES, "1"),
        "large": FileState(LARGEST_BYTES + 1, "1"),
        "line\nbreak": FileState(1, "1"),
        "carriage\rreturn": FileState(1, "1"),
    }
    assert choose(files, UP) == {"small", "carriage\rreturn"}


FOLDERS = st.lists(st.sampled_from("abc"), max_size=3).map("/".join)
PATHS = st.sets(
    st.tuples(FOLDERS, st.integers(0, 99)).map(
        lambda pair: f"{pair[0]}/{pair[1]}" if pair[0] else str(pair[1])
    ),
    max_size=150,
)


@given(PATHS, PATHS)
def test_every_file_is_in_exactly_one_command_and_nothing_else_is(
    wanted: set[str], others: set[str]
) -> None:
    present = wanted | others
    covered: list[str] = []
    for command in commands(wanted, present, UP):
        source = command.split("'")[1].removeprefix("/data/set/")
        if source.endswith("/"):
            covered += [path for path in present if path.startswith(source)]
        else:
            covered.append(source)
    assert sorted(covered) == sorted(wanted)
