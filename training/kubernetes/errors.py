"""What kubectl and helm say when something fails, as errors of ours that say what to do.

Both print what Go's client library for Kubernetes gives them, so that one table serves both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from training.errors import AwsError, UsageError
from training.redaction import redacted

_ACCESS = (
    "Whoever works with the cluster needs an access entry: deploy KubernetesStack with your role's "
    "ARN in eks_admin_arns"
)
_NETWORK = (
    "Is this machine in the VPC? With a private endpoint only, go on from a machine there "
    "(ClusterStack's head node, NotebookStack's notebook), or deploy KubernetesStack with this "
    "network in eks_api_cidrs"
)
_REMEDIES = {
    "Unauthorized": f"The cluster does not know this identity. {_ACCESS}",
    "Forbidden": f"This identity may not do that in the cluster. {_ACCESS}",
    "NoSuchKind": "The cluster lacks what it takes: python -m training.kubernetes install",
    "TooManyRequests": "The cluster asks for fewer requests: wait a minute and run it again",
    "AlreadyExists": "The name is taken: choose another",
}
"""By the `reason` of a Kubernetes Status, and two of our own: NoSuchKind and Unauthorized."""

_REASON = re.compile(r"Error from server \((?P<reason>\w+)\): (?P<said>.*)", re.DOTALL)
_UNKNOWN_KIND = re.compile(r"doesn't have a resource type|no matches for kind")
_NOT_SENT = re.compile(
    r"connection refused|no such host|was refused - did you specify|TLS handshake timeout"
    r"|network is unreachable|no route to host|certificate|dial tcp"
)
_NO_ANSWER = re.compile(
    r"Unable to connect to the server|cluster unreachable|i/o timeout|EOF|connection reset"
    r"|Client\.Timeout|request canceled|context deadline exceeded|http2: client connection"
)
_UNREADY = re.compile(
    r"resource (?P<what>\S+) not ready|(?P<hook>hooks? failed|timed out waiting for the condition)"
)
_CREDENTIAL = re.compile(r"getting credentials: (?P<said>.*)", re.DOTALL)
_NOISE = re.compile(r"^(?:[IWE]\d{4} \d\d:\d\d:\d\d|level=(?:WARN|INFO)|WARNING: )")
"""Lines of the client library's own log, which say again and less well what follows."""

_ADVICE = re.compile(r"\s*Use --debug flag to render out invalid YAML\s*$")
"""What helm adds to what a chart says: the way out is in the words before."""


class KubernetesError(AwsError):
    """The cluster refused a request or could not be reached."""


@dataclass
class KubernetesRefused(KubernetesError):
    """The cluster answered, and refused."""

    message: str
    reason: str
    """The `reason` of a Kubernetes Status, such as NotFound or Forbidden; NoSuchKind where the
    cluster does not have a kind of object; Unknown."""

    def __post_init__(self) -> None:
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class KubernetesUnreachable(KubernetesError):
    """No answer came."""

    may_have_arrived = False
    """Whether the request was sent, so that what it asks for may have been done."""


class NoClusterCredentials(KubernetesError):
    """No token for the cluster could be had."""


def judge(said: str, *, doing: str) -> KubernetesError:
    """Return our error for what kubectl or helm printed to stderr.

    Args:
        said: Everything that it printed.
        doing: What it was doing, for the message, such as `kubectl get pods`.
    """
    text = redacted(last_words(said))
    if found := _CREDENTIAL.search(text):
        return NoClusterCredentials(f"{doing}: no token for the cluster: {found['said'].strip()}")
    if found := _REASON.search(text):
        return _refused(doing, found["said"].strip(), found["reason"])
    if "(Unauthorized)" in text or "Unauthorized" in text.split():
        return _refused(doing, text, "Unauthorized")
    if _UNKNOWN_KIND.search(text):
        return _refused(doing, text, "NoSuchKind")
    if _NOT_SENT.search(text) or _NO_ANSWER.search(text):
        error = KubernetesUnreachable(f"{doing}: the cluster does not answer ({text}). {_NETWORK}")
        error.may_have_arrived = not _NOT_SENT.search(text)
        return error
    return _refused(doing, text or "failed without a word", _reason_of(text))


def _reason_of(text: str) -> str:
    """Return the reason that is in a message which does not begin with it, as helm's do not."""
    words = {
        "is forbidden": "Forbidden",
        "not found": "NotFound",
        "already exists": "AlreadyExists",
    }
    return next((reason for part, reason in words.items() if part in text), "Unknown")


def _refused(doing: str, said: str, reason: str) -> KubernetesRefused:
    remedy = _REMEDIES.get(reason)
    end = "" if said.endswith((".", "!", "?")) else "."
    return KubernetesRefused(f"{doing}: {said}{f'{end} {remedy}' if remedy else ''}", reason)


def last_words(said: str) -> str:
    """Return what was said without the library's log lines, on one line."""
    lines = [line.strip() for line in said.splitlines()]
    kept = [line for line in lines if line and not _NOISE.match(line)] or lines[-1:]
    text = " ".join(kept).strip()
    return text.removeprefix("Error: ").removeprefix("error: ")


class HelmBusy(KubernetesError):
    """Another helm works on the release, or one was killed while it did."""


class NotReady(KubernetesError):
    """What a release made is there, and did not get ready in time."""


class ReleaseExists(UsageError):
    """There is a release of that name."""


def judge_helm(  # noqa: PLR0911  one for each kind of failure
    said: str, *, doing: str, release: str, namespace: str
) -> KubernetesError | UsageError:
    """Return our error for what helm printed to stderr; arguments as `judge` has them."""
    said = _ADVICE.sub("", said)
    text = redacted(last_words(said))
    if _is_busy(text):
        return HelmBusy(
            f"{doing}: another command works on release {release} just now. Wait until it has "
            f"ended and try again. If none runs, one was killed: take back what it began with "
            f"helm rollback {release} -n {namespace} (helm uninstall where there was no release "
            "before), and try again"
        )
    if _is_taken(text):
        return ReleaseExists(
            f"{doing}: there is a release {release} in namespace {namespace}. Choose another name, "
            f"or remove it"
        )
    if found := _UNREADY.search(text):
        what = found["what"] or "a part of it"
        return NotReady(
            f"{doing}: all is made, but {what} did not get ready in time. Look why: "
            "python -m training.kubernetes status; then run the same command again"
        )
    if "invalid kube version" in text:
        return UsageError(f"{doing}: KubernetesStack.KubernetesVersion: {text}")
    if "values don't meet the specifications of the schema" in text:
        return UsageError(f"{doing}: {_schema_complaints(said)}")
    if found := re.search(r"execution error at \((?P<place>[^)]*)\): (?P<said>.*)", text):
        return UsageError(f"{doing}: {found['said']} ({found['place']})")
    if (
        "invalid ownership metadata" in text
        or "cannot be imported into the current release" in text
    ):
        return KubernetesRefused(
            f"{doing}: {text}. That object was made by something else: remove it, or let that "
            "own it",
            "Conflict",
        )
    return judge(said, doing=doing)


def _is_busy(text: str) -> bool:
    # Of two that begin in one moment, the second finds the first's record of the revision.
    is_slower = "release: already exists" in text and "INSTALLATION FAILED" not in text
    return is_slower or ("another operation" in text and "in progress" in text)


def _is_taken(text: str) -> bool:
    parts = ("cannot re-use a name that is still in use", "cannot reuse a name",
             "release: already exists")  # fmt: skip
    return any(part in text for part in parts)


def _schema_complaints(said: str) -> str:
    """Return what a chart's schema found wrong, one clause each, without the frame around it."""
    lines = [line.strip().removeprefix("- ") for line in said.splitlines()]
    complaints = [
        line
        for line in lines
        if line
        and not _NOISE.match(line)
        and "don't meet the specifications" not in line
        and not line.endswith((".json", ".yaml", ":"))
    ]
    return redacted("; ".join(complaints) or last_words(said))
