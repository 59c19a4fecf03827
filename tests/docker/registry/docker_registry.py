"""Debian's docker-registry as a stand-in for ECR's: it takes the user AWS with local AWS' token."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

PROGRAM = shutil.which("docker-registry")

# bcrypt of `123456789012-auth-token`, which is what moto's GetAuthorizationToken gives.
AWS_TOKEN = "AWS:$2b$04$GyiXlz8imfFuvCyGgrZxDej/zYCeIKIdLlftdv/IIbe5iX86kHNVa\n"
OTHER_TOKEN = "AWS:$2b$04$GyiXlz8imfFuvCyGgrZxDej/zYCeIKIdLlftdv/IIbe5iX86kHNVb\n"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass
class DockerRegistry:
    """A registry of this machine; it may be down."""

    folder: Path
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self, tokens: str = AWS_TOKEN) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "tokens").write_text(tokens)
        config = {
            "version": 0.1,
            "log": {"level": "warn", "accesslog": {"disabled": True}},
            "storage": {"filesystem": {"rootdirectory": str(self.folder / "layers")}},
            "http": {"addr": self.host},
            "auth": {"htpasswd": {"realm": "ECR", "path": str(self.folder / "tokens")}},
        }
        (self.folder / "config.yml").write_text(json.dumps(config))
        assert PROGRAM is not None
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "serve", str(self.folder / "config.yml")], stdout=log, stderr=log
            )
        self._wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def _wait(self) -> None:
        for _ in range(200):
            try:
                build_opener(ProxyHandler({})).open(f"http://{self.host}/v2/", timeout=5)
            except HTTPError as error:
                assert error.code == 401
                return
            except URLError:
                time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text())
