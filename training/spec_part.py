"""The base of all that a job spec consists of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SpecPart(BaseModel):
    """A group of keys: immutable, an unknown key is an error, docstrings are the reference."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
