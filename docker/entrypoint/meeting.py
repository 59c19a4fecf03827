"""A worker's side of the meeting: finds the head, however long the head takes to come."""

import socket
import time
from typing import Callable, NamedTuple, Optional, Union

from .addresses import plain, resolve
from .errors import Ending, JobOver, StopAsked
from .gathering import CONTROL_PORT
from .say import say
from .timing import Timing
from .wire import Link, LinkLost, Message, Output

_CONNECT_S = 10
_REPORT_S = 30


class Meeting(NamedTuple):
    """A connection to the head that let this host in."""

    link: Link
    address: str
    """This host's address on it."""
    head_address: str
    welcome: Message


def meet_head(
    head: str, hello: Message, timing: Timing, is_stop_asked: Callable[[], bool]
) -> Meeting:
    """Try until the head lets this host in; there is no limit.

    Raises:
        StopAsked: This host was asked to stop meanwhile.
        JobOver: The head has ended the job.
    """
    begin = time.monotonic()
    next_note = begin + timing.note_s
    while True:
        if is_stop_asked():
            raise StopAsked()
        try:
            return _knock(head, hello, timing.silence_s)
        except (OSError, LinkLost) as error:
            reason = _reason(head, error)
        if time.monotonic() >= next_note:
            next_note += timing.note_s
            say(f"waiting for the head {head} since {time.monotonic() - begin:.0f} s: {reason}")
        time.sleep(timing.retry_s)


def report_failure(head: str, hello: Message) -> None:
    """Tell the head that this host cannot take part, if the head is there before long."""
    deadline = time.monotonic() + _REPORT_S
    while time.monotonic() < deadline:
        try:
            _knock(head, hello, _CONNECT_S).link.close()
        except (OSError, LinkLost):
            time.sleep(1)
        except JobOver:
            # The head has heard it.
            return


def _knock(head: str, hello: Message, silence_s: float) -> Meeting:
    refusal: Optional[OSError] = None
    for address in resolve(head):
        try:
            connection = socket.create_connection((address, CONTROL_PORT), timeout=_CONNECT_S)
        except OSError as error:
            refusal = error
            continue
        link = Link(connection, silence_s=silence_s)
        try:
            own = plain(str(connection.getsockname()[0]))
            link.send(hello)
            answer = link.receive()
            welcome = checked_welcome(answer)
        except (OSError, LinkLost, JobOver):
            link.close()
            raise
        return Meeting(link, own, plain(str(connection.getpeername()[0])), welcome)
    raise refusal or OSError(f"{head} has no address")


def checked_welcome(answer: Union[Message, Output]) -> Message:
    """Return the head's welcome.

    Raises:
        LinkLost: It is none; to be tried again.
        JobOver: The head has ended the job.
    """
    kind = None if isinstance(answer, Output) else answer["kind"]
    if isinstance(answer, Output) or kind not in ("welcome", "refused", "exit"):
        raise LinkLost("what answers there is no head of a job")
    if kind == "refused":
        # Names may be wrong for a while: worth another try.
        raise LinkLost(f"it refuses this host: {answer.get('reason')}")
    if kind == "exit":
        raise JobOver(Ending(int(answer["code"]), str(answer["reason"])))
    return answer


def _reason(head: str, error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return f"the name {head} does not resolve ({error.strerror})"
    if isinstance(error, socket.timeout):
        return f"no answer on port {CONTROL_PORT}: check the job's security group"
    if isinstance(error, OSError):
        return f"port {CONTROL_PORT}: {error.strerror or error}"
    return str(error)
