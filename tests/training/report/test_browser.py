from typing import Any

import pytest

from training.layout import TrainChannel
from training.report import write_report

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [390, 820, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_renders_whole_and_asks_for_nothing(
    sample: Any, coco: TrainChannel, browser: Any, width: int, dark: bool
):
    sample.write_all(status="failed")
    long = "a-name-without-any-space-" * 20
    sample.write_job(job_name=long, spec={"key": long}, command=[long])
    path = write_report(sample.log, coco)
    browser.open(path, width=width, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")

    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    images = browser.evaluate("[...document.images].map(one => one.naturalWidth > 0)")
    assert images == [True] * 8
    charts = browser.evaluate(
        "[...document.querySelectorAll('svg')].map(one => one.getBoundingClientRect().height)"
    )
    assert len(charts) == 6 + 2 + 79
    assert min(charts) > 100
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 21, 24)" if dark else "rgb(250, 250, 248)")
    assert complaints(browser) == []
    assert requests(browser) == [path.as_uri()]


@pytest.mark.parametrize("width", [390, 1400])
def test_wide_tables_scroll_within_their_card_with_their_names_in_sight(
    sample: Any, coco: TrainChannel, browser: Any, width: int
):
    sample.write_all()
    browser.open(write_report(sample.log, coco), width=width)
    for table in (".tall", ".matrix"):
        left, name, end = browser.evaluate(
            f"(() => {{ const card = document.querySelector('{table}');"
            " card.scrollTop = 200; card.scrollLeft = 150;"
            " const place = one => one.getBoundingClientRect();"
            " const cell = card.querySelector('tbody th');"
            " return [place(card).left, place(cell).left, place(card).right]; })()"
        )
        assert left <= name <= left + 2
        assert end <= width
    head, top = browser.evaluate(
        "['.tall thead th', '.tall'].map("
        "one => document.querySelector(one).getBoundingClientRect().top)"
    )
    assert top <= head <= top + 2


def complaints(browser: Any) -> list[Any]:
    kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
    return [event for event in browser.events if event["method"] in kinds]


def requests(browser: Any) -> list[str]:
    sent = (event for event in browser.events if event["method"] == "Network.requestWillBeSent")
    urls = [event["params"]["request"]["url"] for event in sent]
    return [url for url in urls if not url.startswith("data:")]
