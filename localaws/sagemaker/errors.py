"""How SageMaker refuses a request."""

from __future__ import annotations

from moto.sagemaker.exceptions import ValidationError


def too_long(where: str, limit: int) -> ValidationError:
    """Return the error for a text over its limit, in the words of the service's model."""
    return ValidationError(
        message=f"1 validation error detected: Value at '{where}' failed to satisfy constraint: "
        f"Member must have length less than or equal to {limit}"
    )


def wrong_status(status: str, allowed: list[str], to: str, arn: str) -> ValidationError:
    """Return the error for a notebook instance that is in the wrong state."""
    return ValidationError(
        message=f"Status ({status}) not in ([{', '.join(allowed)}]). Unable to transition to "
        f"({to}) for Notebook Instance ({arn})"
    )
