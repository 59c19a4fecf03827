"""The base of all that a job spec consists of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

_NUMBERS = (int, int | None, float, float | None)


class SpecPart(BaseModel):
    """A group of keys: immutable, an unknown key is an error; the texts below are the reference."""

    # A number that is none would say "no limit", or go out as JSON that is none.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_truth_as_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Keep `retries: yes` from being 1, which pydantic would make of it."""
        if (
            isinstance(value, bool)
            and cls.model_fields[info.field_name or ""].annotation in _NUMBERS
        ):
            raise ValueError("expected a number")
        return value
