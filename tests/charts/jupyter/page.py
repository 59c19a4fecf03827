"""A headless Chromium before a stand: it visits, types and clicks as a person does."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

from tests.training.report.conftest import Browser

WAIT_S = 240
"""Beside other tests an import of torch has taken a minute."""


class Page:
    """What a person sees and does."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        browser.call("Security.setIgnoreCertificateErrors", ignore=True)
        browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=1300,
            height=1000,
            deviceScaleFactor=1,
            mobile=False,
        )

    def visit(self, url: str) -> None:
        """Go to an address."""
        self._browser.call("Page.navigate", url=url)

    def wait_for(self, condition: str) -> Any:
        """Wait until an expression of JavaScript is true; return its value."""
        deadline = time.monotonic() + WAIT_S
        while True:
            # Between two pages there is nothing to look at.
            value = self._browser.evaluate(
                f"(() => {{ try {{ return {condition} }} catch {{ return null }} }})()"
            )
            if value:
                return value
            assert time.monotonic() < deadline, f"{condition}: {self.text()}"
            time.sleep(0.2)

    def text(self) -> str:
        """Return what is to be read."""
        return str(self._browser.evaluate("document.body ? document.body.innerText : ''"))

    def click(self, selector: str, text: str = "") -> None:
        """Click on the middle of an element, once it is there.

        Args:
            text: What is to be read in it.
        """
        place = self.wait_for(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".filter(one => one.innerText.trim().startsWith({json.dumps(text)}))"
            ".map(one => one.getBoundingClientRect()).filter(box => box.width > 0)"
            ".map(box => [box.x + box.width / 2, box.y + box.height / 2])[0]"
        )
        x, y = place
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self._browser.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self._browser.call("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """Save what is seen."""
        data = self._browser.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
