"""The instance's metadata service, version 2 only.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html

`python3 -m node.metadata PATH` prints one value.
"""

from __future__ import annotations

import http.client
import os
import sys
import time
import urllib.error
import urllib.request

from .errors import NodeError

ENDPOINT = "http://169.254.169.254"
ENDPOINT_VARIABLE = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
"""As AWS's own tools call it."""

TOKEN_S = 21600
"""The longest life that a token may have."""
_TIMEOUT_S = 2

# A proxy must never see a token of this instance.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Metadata:
    """Asks for values and keeps the token for as long as it lives."""

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = (endpoint or os.environ.get(ENDPOINT_VARIABLE) or ENDPOINT).rstrip("/")
        self._token = ""
        self._renew_at = 0.0

    def get(self, path: str) -> str | None:
        """Return the value below `latest/meta-data/`, or None where there is none.

        Raises:
            NodeError: The service does not answer.
        """
        url = f"{self._endpoint}/latest/meta-data/{path}"
        try:
            return self._get(url)
        except urllib.error.HTTPError as error:
            raise NodeError(f"{url}: answers {error.code}") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NodeError(f"{url}: does not answer ({error})") from error

    def must(self, path: str) -> str:
        """Return a value that each instance has.

        Raises:
            NodeError: The service does not answer, or has no such value.
        """
        value = self.get(path)
        if value is None:
            raise NodeError(f"{self._endpoint}/latest/meta-data/{path}: there is no such value")
        return value

    def _get(self, url: str, *, again: bool = True) -> str | None:
        try:
            return self._ask(url, {"X-aws-ec2-metadata-token": self._current_token()})
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            if error.code != 401 or not again:
                raise
            # The token is not good any more, for example after the instance was stopped.
            self._renew_at = 0.0
            return self._get(url, again=False)

    def _current_token(self) -> str:
        if time.monotonic() >= self._renew_at:
            lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_S)}
            self._token = self._ask(f"{self._endpoint}/latest/api/token", lifetime, method="PUT")
            self._renew_at = time.monotonic() + TOKEN_S - 300
        return self._token

    @staticmethod
    def _ask(url: str, headers: dict[str, str], *, method: str = "GET") -> str:
        request = urllib.request.Request(url, headers=headers, method=method)  # noqa: S310  http
        with _OPENER.open(request, timeout=_TIMEOUT_S) as answer:
            content: bytes = answer.read(65536)
            return content.decode("utf-8", "replace").strip()


def main(arguments: list[str]) -> int:
    try:
        [path] = arguments
        sys.stdout.write(Metadata().must(path) + "\n")
    except ValueError:
        sys.stderr.write("usage: python3 -m node.metadata PATH\n")
        return 2
    except NodeError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
