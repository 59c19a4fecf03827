"""What a cell shows: charts as the report draws them, and pictures."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training import report
from training.report.figures import evaluation_figure, other_figures, training_figures
from training.report.metrics import Metrics
from training.report.sections import map_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEMPLATES = (Path(__file__).parent / "templates", Path(report.__file__).parent / "templates")
_HEIGHT = 760
"""Pixels of the frame with charts; it scrolls."""
_QUALITY = 85


@dataclass(frozen=True)
class Html:
    """Jupyter shows it below the cell whose value it is."""

    text: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.text


def charts(name: str, metrics: Metrics) -> Html:
    """Return losses and averages, in a frame of their own: their style is that of a page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("metrics.html.j2").render(
        name=name,
        map_table=map_table(metrics),
        map_step=metrics.last_evaluation_step,
        map_figure=evaluation_figure(metrics),
        figures=training_figures(metrics),
        others=other_figures(metrics),
    )
    return Html(
        f'<iframe srcdoc="{html.escape(page)}" sandbox title="Metrics of {html.escape(name)}" '
        f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
    )


def pictures(lead: str, drawn: Iterable[tuple[str, NDArray[Any]]]) -> Html:
    """Return pictures with their names.

    Args:
        lead: What is to be seen.
        drawn: Name and (H, W, 3) uint8: the truth at the left, what was detected at the right.
    """
    figures = "".join(_figure(html.escape(name), pixels) for name, pixels in drawn)
    return Html(f"<p>{html.escape(lead)}</p>{figures}")


def _figure(name: str, pixels: NDArray[Any]) -> str:
    height, width, _ = pixels.shape
    return (
        f'<figure style="margin: 0 0 1em"><img src="{_data_uri(pixels)}" width="{width}" '
        f'height="{height}" style="max-width: 100%; height: auto" '
        f'alt="{name}: the truth at the left, what was detected at the right">'
        f"<figcaption>{name}</figcaption></figure>"
    )


def _data_uri(pixels: NDArray[Any]) -> str:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
