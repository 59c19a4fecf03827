"""What is said where a step with DataSync ends early: what there is then, and how to end it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from training.aws.errors import AwsRefused, AwsUnreachable
from training.errors import AwsError, Interrupted
from training.stop_signals import terminated_as_interrupted


@contextmanager
def ended_early(interrupted: str, unanswered: str | None = None) -> Iterator[None]:
    """Say what there is where Ctrl-C, SIGTERM or AWS ends one step.

    Args:
        interrupted: Of Ctrl-C and SIGTERM.
        unanswered: Where no good answer came; None where the error says enough. A refusal does.
    """
    try:
        with terminated_as_interrupted():
            yield
    except KeyboardInterrupt as error:
        raise Interrupted(interrupted) from error
    except AwsError as error:
        if unanswered is None or (isinstance(error, AwsRefused) and not error.is_fault):
            raise
        raise AwsError(f"{error}. {unanswered}") from error


def did_nothing(error: BaseException) -> bool:
    """Return whether nothing can have come of a request: AWS has refused it, or it never left."""
    if isinstance(error, AwsUnreachable):
        return not error.may_have_arrived
    return isinstance(error, AwsRefused) and not error.is_fault


def how_to_end(arn: str) -> str:
    """Return the command that ends an execution, whose ARN may be a task's, where it is not known.

    https://docs.aws.amazon.com/cli/latest/reference/datasync/cancel-task-execution.html
    """
    region = (arn.split(":") + [""] * 4)[3]
    if "/execution/" in arn:
        return f"aws datasync cancel-task-execution --task-execution-arn {arn} --region {region}"
    return f"in the console of DataSync, region {region}"
