"""`aws` and `systemctl`: note how they were called, and answer for one worker group and a bucket.

group.json has the group, and `refusals`, a map of an action to what AWS says instead.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

BENCH = Path(os.environ["BENCH"])
GROUP = BENCH / "aws" / "group.json"


def main(program: str, words: list[str]) -> int:
    with (BENCH / "calls").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps([program, *words]) + "\n")
    if program == "systemctl":
        return 0
    with (BENCH / "aws" / "lock").open("a") as file:
        if words[0] != "s3":
            fcntl.flock(file, fcntl.LOCK_EX)
        return answer(words)


def answer(words: list[str]) -> int:
    group = json.loads(GROUP.read_text())
    service, action = words[:2]
    if refusal := group.get("refusals", {}).get(action):
        sys.stderr.write(f"An error occurred ({refusal}) when calling it\n")
        return 254
    if action == "describe-auto-scaling-groups":
        found = {"DesiredCapacity": group["desired"], "MaxSize": group["most"]}
        say({"AutoScalingGroups": [found]})
    elif action == "set-desired-capacity":
        group["desired"] = int(after(words, "--desired-capacity"))
        GROUP.write_text(json.dumps(group))
    elif action == "describe-scaling-activities":
        say({"Activities": group["activities"]})
    elif action == "put-log-events":
        events = json.loads(Path(after(words, "--log-events")[len("file://") :]).read_text())
        with (BENCH / "aws" / "log").open("a") as file:
            file.writelines(event["message"] + "\n" for event in events)
        say({})
    elif action == "put-events":
        entries = json.loads(Path(after(words, "--entries")[len("file://") :]).read_text())
        with (BENCH / "aws" / "events").open("a") as file:
            file.writelines(entry["Detail"] + "\n" for entry in entries)
        say({"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]})
    elif service == "s3":
        time.sleep(group.get("slow_s", 0))
        return copy(action, [word for word in words[2:] if not word.startswith("--")])
    return 0


def copy(action: str, words: list[str]) -> int:
    source, target = (
        BENCH / "aws" / "s3" / w[5:] if w.startswith("s3://") else w for w in words[:2]
    )
    try:
        if action == "sync":
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif target == "-":
            sys.stdout.buffer.write(Path(source).read_bytes())
        else:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    except OSError as error:
        sys.stderr.write(f"fatal error: {error}\n")
        return 1
    return 0


def after(words: list[str], option: str) -> str:
    return words[words.index(option) + 1]


def say(document: Any) -> None:
    sys.stdout.write(json.dumps(document))


sys.exit(main(sys.argv[1], sys.argv[2:]))
