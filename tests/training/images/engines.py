"""A stand-in for an engine, and for ECR: they record what they are asked, and know no image."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

PASSWORD = "eyJ0b2tlbiI6ICJzZWNyZXQifQ=="
CONFIG = "sha256:" + "c" * 64
MANIFEST = json.dumps(
    {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"digest": CONFIG, "size": 900},
        "layers": [
            {"digest": "sha256:" + "1" * 64, "size": 3 * 1024**2},
            {"digest": "sha256:" + "2" * 64, "size": 1024**2 // 2},
        ],
    }
)
DIGEST = f"sha256:{hashlib.sha256(MANIFEST.encode()).hexdigest()}"

PROGRAM = """#!{python} -SE
import json, os, sys
from pathlib import Path

here = Path(__file__).parent
words = sys.argv[1:]
script = json.loads((here / "script.json").read_text())
call = {{"engine": Path(__file__).name, "words": words}}
folder = words[words.index("--config") + 1] if "--config" in words else None
file = words[words.index("--authfile") + 1] if "--authfile" in words else None
auth = Path(folder, "config.json") if folder else Path(file) if file else None


def end(code, text=""):
    with (here / "calls").open("a") as calls:
        calls.write(json.dumps(call) + "\\n")
    print(text, file=sys.stderr)
    sys.exit(code)


call["aws"] = sorted(name for name in os.environ if name.startswith("AWS_"))
if "login" in words:
    call["stdin"] = sys.stdin.read()
    call["before"] = auth.read_text() if auth.exists() else None
    auth.write_text("signed in")
    call["folder_mode"] = oct(auth.parent.stat().st_mode & 0o777)
    if script["login"]:
        end(1, script["login"].pop(0))
elif "push" in words:
    call["auth"] = auth.read_text()
    told = script["push"].pop(0) if script["push"] else None
    (here / "script.json").write_text(json.dumps(script))
    if told is not None:
        end(125, told)
    (here / "pushed").write_text(words[-1])
    digest = script["digest"]
    if "--digestfile" in words:
        Path(words[words.index("--digestfile") + 1]).write_text(digest)
    else:
        print(f"tag: digest: {{digest}} size: 1234")
elif "inspect" in words and "context" in words:
    print("unix:///run/user/1000/docker.sock")
elif "inspect" in words:
    if words[-1] not in script["images"]:
        end(1, "no such image")
    print(script["images"][words[-1]])
elif "build" in words:
    script["images"][words[words.index("--tag") + 1]] = "built"
    (here / "script.json").write_text(json.dumps(script))
elif "info" in words:
    print('{{"store": {{"graphRoot": "/"}}}}')
end(0)
"""


class Engines:
    """Programs in a folder, which do as a script says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.script: dict[str, Any] = {"images": {}, "login": [], "push": [], "digest": DIGEST}
        self._save()

    def _save(self) -> None:
        (self.folder / "script.json").write_text(json.dumps(self.script))

    def install(self, *names: str) -> None:
        for name in names:
            program = self.folder / name
            program.write_text(PROGRAM.format(python=sys.executable))
            program.chmod(0o755)

    def plan(self, **script: Any) -> None:
        self.script |= script
        self._save()

    @property
    def calls(self) -> list[dict[str, Any]]:
        file = self.folder / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def of(self, command: str) -> list[dict[str, Any]]:
        return [call for call in self.calls if command in call["words"]]

    @property
    def pushed(self) -> str | None:
        file = self.folder / "pushed"
        return file.read_text() if file.exists() else None


@dataclass
class EcrClient:
    """boto3's client of an ECR that has what the engines have pushed."""

    engines: Engines
    manifest: str | None = None
    """There already."""
    listed: str = DIGEST
    """What DescribeImages says."""
    late: int = 0
    """Looks after a push that do not see it yet."""
    error: str | None = None
    """Code of what it refuses everything with."""

    @property
    def meta(self) -> SimpleNamespace:
        return SimpleNamespace(service_model=SimpleNamespace(signing_name="ecr"))

    def _refuse(self, operation: str) -> None:
        if self.error:
            said = {"Code": self.error, "Message": "no"}
            raise ClientError({"Error": said}, operation)  # type: ignore[typeddict-item]

    def _stored(self) -> str | None:
        return self.manifest or (MANIFEST if self.engines.pushed else None)

    def batch_get_image(self, **request: Any) -> dict[str, Any]:
        self._refuse("BatchGetImage")
        assert request["repositoryName"] == "mask-rcnn/horovod"
        manifest = self._stored()
        if manifest and self.manifest is None and self.late:
            self.late -= 1
            manifest = None
        return {"images": [{"imageManifest": manifest}] if manifest else [], "failures": []}

    def describe_images(self, **_request: Any) -> dict[str, Any]:
        if self._stored() is None:
            said = {"Code": "ImageNotFoundException", "Message": "none"}
            raise ClientError({"Error": said}, "DescribeImages")  # type: ignore[typeddict-item]
        return {"imageDetails": [{"imageDigest": self.listed}]}

    def get_authorization_token(self) -> dict[str, Any]:
        token = base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()
        return {"authorizationData": [{"authorizationToken": token}]}
