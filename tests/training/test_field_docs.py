"""What the reference says of a key is the text below it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from training.field_docs import field_docs


class Base(BaseModel):
    """Has a text."""

    first: int = 0
    """Of the base,
    in two lines."""
    changed: int = 0
    """As it was."""


class Below(Base):
    """Has other texts."""

    changed: int = 1
    """As it is."""
    bare: int = 0
    another: int = Field(default=0, ge=0)
    """Of a field with bounds."""


def test_each_field_has_the_text_below_it_or_that_of_the_model_it_is_from() -> None:
    assert field_docs(Below) == {
        "first": "Of the base,\nin two lines.",
        "changed": "As it is.",
        "another": "Of a field with bounds.",
    }
