"""The cost allocation tags of a job."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from training.errors import UsageError
from training.outputs import JOB_TAG, PROJECT_TAG

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Tag.html
MAX_TAGS = 50
MAX_KEY_LENGTH = 128
MAX_VALUE_LENGTH = 256
_SIGNS = "_.:/=+-@"


def tags(
    own: Mapping[str, str], *, project: str, job: str, taker: str = "SageMaker"
) -> list[dict[str, str]]:
    """Return Tags: `Project` and `Job`, then the user's.

    Args:
        own: The user's.
        project: As the stacks have it; the roles' permissions go by it.
        job: The name that the user gave the job, or that it got: a job that goes on has the
            first one's, so that they are paid for together.
        taker: What takes them, for messages.

    Raises:
        UsageError: AWS would refuse one of them, or it is not theirs to set.
    """
    if len(own) > MAX_TAGS - 2:
        raise UsageError(
            f"tags: {len(own)} tags; {taker} takes {MAX_TAGS}, of which {MAX_TAGS - 2} are yours"
        )
    for key, value in own.items():
        _check(key, value)
    every = {PROJECT_TAG: project, JOB_TAG: job, **own}
    return [{"Key": key, "Value": value} for key, value in every.items()]


def _check(key: str, value: str) -> None:
    if key in {PROJECT_TAG, JOB_TAG} or key.lower().startswith("aws:"):
        raise UsageError(
            f"tags.{key}: this tag is not yours to set: the launch sets {PROJECT_TAG} and "
            f"{JOB_TAG}, and AWS those that begin with aws:"
        )
    for what, text, limit in (("key", key, MAX_KEY_LENGTH), ("value", value, MAX_VALUE_LENGTH)):
        if len(text) > limit or (what == "key" and not text):
            raise UsageError(
                f"tags.{key}: the {what} has {len(text)} characters; a key has 1 to "
                f"{MAX_KEY_LENGTH}, a value at most {MAX_VALUE_LENGTH}"
            )
        if wrong := [sign for sign in text if not _is_allowed(sign)]:
            raise UsageError(
                f"tags.{key}: {wrong[0]!r} in the {what} {text!r}: letters, digits, spaces and "
                f"{_SIGNS} are allowed"
            )


def _is_allowed(sign: str) -> bool:
    r"""Return whether AWS's pattern, [\p{L}\p{Z}\p{N}_.:/=+\-@], has the character."""
    return unicodedata.category(sign)[0] in "LZN" or sign in _SIGNS
