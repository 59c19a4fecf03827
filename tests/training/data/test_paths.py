from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from training.data.paths import clean_prefix, key_of, path_of, problem_of_path, require_tree
from training.errors import UsageError

ANY_TEXT = st.text(max_size=60)
PATHS = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4).map("/".join)


@given(st.sampled_from(["", "train", "mask-rcnn/sagemaker/input/train"]), PATHS)
def test_a_path_comes_back_from_its_key(prefix: str, path: str) -> None:
    assume(problem_of_path(path) is None)
    assert path_of(prefix, key_of(prefix, path)) == path


@given(st.sampled_from(["", "train"]), ANY_TEXT)
def test_any_key_gives_a_path_inside_or_a_usage_error(prefix: str, key: str) -> None:
    try:
        path = path_of(prefix, key)
    except UsageError:
        return
    assert problem_of_path(path) is None
    assert key_of(prefix, path) == key


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("a b/ü+#%.jpg", None),
        ("日本/🐈.jpg", None),
        ("back\\slash", None),
        ("", "empty part"),
        ("/etc/passwd", "empty part"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        ("../x", "part . or .."),
        ("a/../../x", "part . or .."),
        ("./a", "part . or .."),
        ("a\0b", "null"),
        ("\udcff", "UTF-8"),
        ("ü" * 128, "255 bytes"),
        ("/".join(["a" * 200] * 6), "1024 bytes"),
    ],
)
def test_paths_that_would_leave_the_set_or_are_no_file_names_are_named(
    path: str, problem: str | None
) -> None:
    found = problem_of_path(path)
    assert found is None if problem is None else problem in str(found)


def test_a_key_that_s3_would_refuse_is_refused_before() -> None:
    with pytest.raises(UsageError, match="1024 bytes"):
        key_of("p" * 900, "a" * 200)


@pytest.mark.parametrize("text", ["", "/"])
def test_an_empty_prefix_is_the_root(text: str) -> None:
    assert clean_prefix(text) == ""


def test_slashes_at_the_ends_of_a_prefix_do_not_count() -> None:
    assert clean_prefix("/data/train/") == "data/train"


@pytest.mark.parametrize("text", ["a//b", "../up", "a/./b"])
def test_a_prefix_with_an_unusable_part_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="path"):
        clean_prefix(text)


def test_a_file_where_another_needs_a_folder_is_named() -> None:
    with pytest.raises(UsageError, match="'a/b' and 'a/b/c/d' inside it"):
        require_tree({"a/b", "a/b/c/d", "a/bc"}, "s3://b")
    require_tree({"a/b", "a/bc", "ab"}, "s3://b")
