"""What `mask-rcnn-node` answers about jobs: one JSON object, no larger than SSM passes on."""

from __future__ import annotations

import json
import os
from typing import Any

from node.config import NodeConfig

from . import jobs
from .refusal import Refused

MOST_BYTES = 23_000
"""Of a whole answer: SSM cuts what a command prints at 24,000. AWS's reference says characters
(https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetCommandInvocation.html); its
agent counts bytes (aws/amazon-ssm-agent, agent/plugins/pluginutil)."""
MOST_TEXT = 15_000
_READ_BYTES = 60_000


def status(config: NodeConfig, given: dict[str, Any]) -> dict[str, Any]:
    _, state = jobs.find(config, given.get("name"))
    return fitting(state.answer())


def list_jobs(config: NodeConfig, given: dict[str, Any]) -> dict[str, Any]:
    """Return the jobs, newest first, as many as fit; `left_out` is how many do not."""
    limit = _whole(given, "limit", default=100)
    found = [state.answer() for _, state in reversed(jobs.all_jobs(config))][:limit]
    # Nobody looks for hosts in a list.
    listed = [{**job, "hosts": []} for job in found]
    while len(listed) > 1 and _size({"jobs": listed}) > MOST_BYTES - 100:
        listed.pop()
    left_out = len(found) - len(listed)
    return {"jobs": listed, **({"left_out": left_out} if left_out else {})}


def logs(config: NodeConfig, given: dict[str, Any]) -> dict[str, Any]:
    """Return the output from a byte on; `done` where there will be no more.

    `size` is that of the output by now, so that whoever reads a job that runs knows where to stop.
    """
    run, state = jobs.find(config, given.get("name"))
    offset = _whole(given, "offset", default=0)
    try:
        with run.output.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(offset)
            data = file.read(_READ_BYTES)
    except OSError:
        size, data = 0, b""
    text, used = _cut(data, MOST_TEXT)
    answer = {"text": text, "next": offset + used, "size": size, "done": False}
    while _size(answer) > MOST_BYTES:
        text, used = _cut(data, len(text) * 3 // 4)
        answer.update(text=text, next=offset + used)
    answer["done"] = state.is_final and used == len(data)
    return answer


def fitting(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a job's answer with as many hosts as fit; `hosts_left_out` is how many do not."""
    hosts = list(answer["hosts"])
    while hosts and _size({**answer, "hosts": hosts}) > MOST_BYTES - 100:
        hosts = hosts[: len(hosts) * 3 // 4]
    left_out = len(answer["hosts"]) - len(hosts)
    more = {"hosts_left_out": left_out} if left_out else {}
    return {**answer, "hosts": hosts, **more}


def to_text(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _cut(data: bytes, most: int) -> tuple[str, int]:
    """Return at most so many characters, and the bytes that they are; a character stays whole."""
    text = data.decode("utf-8", "surrogateescape")[:most]
    used = len(text.encode("utf-8", "surrogateescape"))
    # A character whose end has not come yet waits; what never was one is replaced.
    if used == len(data):
        while text and "\udc80" <= text[-1] <= "\udcff" and len(data) - used < 3:
            text, used = text[:-1], used - 1
        if not text:
            text, used = data.decode("utf-8", "surrogateescape")[:most], len(data)
    shown = "".join("\ufffd" if "\udc80" <= each <= "\udcff" else each for each in text)
    return shown, used


def _whole(given: dict[str, Any], name: str, *, default: int) -> int:
    value = given.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Refused("usage", f"{name}: {value!r}; expected a whole number from 0")
    return value


def _size(answer: dict[str, Any]) -> int:
    return len(to_text(answer).encode("utf-8", "replace"))
