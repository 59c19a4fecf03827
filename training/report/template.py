"""Fills the templates of pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_TEMPLATES = Path(__file__).parent / "templates"


def fill(template: str, **values: Any) -> str:
    """Return a page; a value that the template names and nobody gives is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)
