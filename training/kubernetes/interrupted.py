"""Commands of helm that change something, and what is left when one of them is stopped.

helm runs in a session of its own: Ctrl-C at the terminal reaches us alone. We let it write down
that it was stopped, and then say what is there.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from training.errors import Interrupted, TrainingError
from training.kubernetes.errors import KubernetesUnreachable, judge_helm
from training.kubernetes.tools import environment
from training.kubernetes.values_text import values_text
from training.stop_signals import terminated_as_interrupted

if TYPE_CHECKING:
    from training.kubernetes.helm import Helm

_STOP_S = 30
"""How long helm gets to write down that it was stopped."""


def change(
    helm: Helm,
    argv: Sequence[str],
    release: str,
    values: Mapping[str, Any] | None,
    limit_s: int,
) -> str:
    """Run one command to its end and return what it printed.

    Args:
        helm: Tells, after an interruption, what is there.
        argv: helm, its options, verb and words.
        release: Which it changes.
        values: For its standard input.
        limit_s: Longer than helm itself would wait for anything.

    Raises:
        UsageError, KubernetesError: As `judge_helm` has them.
        Interrupted: SIGINT or SIGTERM came; the message says what is there.
    """
    verb = next(word for word in argv if word in ("install", "upgrade", "uninstall", "rollback"))
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=environment(os.environ),
        start_new_session=True,
    )
    try:
        with terminated_as_interrupted():
            done, said = process.communicate(values_text(values), timeout=limit_s)
    except KeyboardInterrupt as error:
        _stop(process)
        raise Interrupted(f"helm {verb} was stopped: {_what_is_there(helm, release)}") from error
    except subprocess.TimeoutExpired as error:
        _stop(process)
        late = KubernetesUnreachable(
            f"helm {verb} {release}: no end in {limit_s} s; {_what_is_there(helm, release)}"
        )
        late.may_have_arrived = True
        raise late from error
    except BaseException:
        _stop(process)
        raise
    if process.returncode:
        raise judge_helm(
            said, doing=f"helm {verb} {release}", release=release, namespace=helm.namespace
        )
    return done


@contextmanager
def told_when_stopped(what: str) -> Iterator[None]:
    """Let Ctrl-C or SIGTERM end a command with one sentence.

    Raises:
        Interrupted: It came.
    """
    try:
        with terminated_as_interrupted():
            yield
    except KeyboardInterrupt as error:
        raise Interrupted(what) from error


def _stop(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _what_is_there(helm: Helm, release: str) -> str:
    place = f"release {release} in namespace {helm.namespace}"
    try:
        found = helm.release(release)
    except TrainingError as error:
        return f"what is there of {place} cannot be told ({error})"
    if found is None:
        return f"there is no {place}"
    if found.status.startswith("pending"):
        undo = "helm uninstall" if found.revision == 1 else "helm rollback"
        return (
            f"{place} is {found.status}, with part of its objects. "
            f"Take that back before the next try: {undo} {release} -n {helm.namespace}"
        )
    return f"{place} is {found.status} (revision {found.revision})"
