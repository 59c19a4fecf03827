"""What is said when somebody, or AWS, ends the watching of a job that goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from training.errors import AwsError, Interrupted
from training.stop_signals import terminated_as_interrupted


@contextmanager
def watching(job_name: str, *, follow: str, stop: str) -> Iterator[None]:
    """Say of a job that goes on how to come back to it.

    Args:
        job_name: The job.
        follow: The command that watches it again.
        stop: The command that ends it.

    Raises:
        Interrupted: The user, or whoever ended this process, stopped watching.
        AwsError: AWS cannot be asked any more.
    """
    try:
        with terminated_as_interrupted():
            yield
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"watching; {job_name} goes on. Watch it again: {follow}; end it: {stop}"
        ) from error
    except AwsError as error:
        raise AwsError(
            f"{error}. {job_name} is not watched any more; if it runs, it goes on. Watch it again: "
            f"{follow}"
        ) from error
