"""The layer between the socket and moto."""

from __future__ import annotations

import json
import threading
from typing import Any
from xml.etree import ElementTree

from localaws.gateway import STATUS_PATH, Gateway


def call(gateway: Gateway, **environ: str) -> tuple[str, str]:
    """Return status and body of a request."""
    statuses: list[str] = []
    defaults = {"HTTP_HOST": "127.0.0.1:5566", "PATH_INFO": "/"}
    body = gateway(defaults | environ, lambda status, headers: statuses.append(status))
    return statuses[0], b"".join(body).decode()


def failing(error: Exception) -> Gateway:
    def application(environ: Any, start_response: Any) -> Any:
        raise error

    return Gateway(application, dict)


def test_missing_operation_is_an_error_of_the_json_protocol() -> None:
    gateway = failing(NotImplementedError("The fly action has not been implemented"))
    status, body = call(gateway, HTTP_X_AMZ_TARGET="Service.Fly")
    assert status == "501 Not Implemented"
    assert json.loads(body) == {
        "__type": "NotImplemented",
        "message": "Local AWS does not have this: The fly action has not been implemented",
    }


def test_bug_is_an_error_of_the_query_protocol_with_its_message_escaped() -> None:
    form = "application/x-www-form-urlencoded; charset=utf-8"
    status, body = call(failing(KeyError("<Name>")), CONTENT_TYPE=form)
    assert status == "500 Internal Server Error"
    error = ElementTree.fromstring(body).find("Error")
    assert error is not None
    assert error.findtext("Code") == "InternalFailure"
    assert error.findtext("Message") == "KeyError: '<Name>'"


def test_bug_is_a_bare_error_for_s3() -> None:
    _, body = call(failing(ValueError("no")))
    assert ElementTree.fromstring(body).tag == "Error"


def test_name_that_a_web_page_could_own_is_refused() -> None:
    reached: list[str] = []

    def application(environ: Any, start_response: Any) -> list[bytes]:
        reached.append(environ["HTTP_HOST"])
        start_response("200 OK", [])
        return []

    gateway = Gateway(application, dict)
    assert call(gateway, HTTP_HOST="attacker.example:5566")[0] == "403 Forbidden"
    assert call(gateway, HTTP_HOST="attacker.example:5566", PATH_INFO=STATUS_PATH)[0].startswith(
        "403"
    )
    assert call(gateway, HTTP_HOST="bucket.localhost:5566")[0] == "200 OK"
    assert reached == ["bucket.localhost:5566"]


def test_closing_waits_for_requests_on_their_way_and_takes_no_more() -> None:
    entered, leave, closed = threading.Event(), threading.Event(), threading.Event()

    def application(environ: Any, start_response: Any) -> list[bytes]:
        entered.set()
        leave.wait(5)
        start_response("200 OK", [])
        return [b"done"]

    gateway = Gateway(application, dict)
    answers: list[tuple[str, str]] = []
    request = threading.Thread(target=lambda: answers.append(call(gateway)))
    request.start()
    entered.wait(5)

    def close() -> None:
        gateway.close(5)
        closed.set()

    closing = threading.Thread(target=close)
    closing.start()
    assert not closed.wait(0.2)
    assert call(gateway)[0] == "503 Service Unavailable"
    leave.set()
    closing.join(5)
    request.join(5)
    assert closed.is_set()
    assert answers == [("200 OK", "done")]
