from __future__ import annotations

import pytest

from training.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("\x9b31m\x7f\x00", r"\x9b31m\x7f\x00"),
        ("gpj.\u202eexe\u2066", r"gpj.\u202eexe\u2066"),
        ("over\rwritten", r"over\rwritten"),
        ("\udcff", r"\udcff"),
        ("lines\r\nand\ttabs", "lines\r\nand\ttabs"),
        ("é 人 👩\u200d🔬 क्\u200dष [red] \\", "é 人 👩\u200d🔬 क्\u200dष [red] \\"),
    ],
)
def test_what_a_terminal_would_obey_is_spelt_out_and_letters_stay(text: str, shown: str) -> None:
    assert visible(text) == shown
