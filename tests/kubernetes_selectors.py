"""Label selectors, as kubectl and helm write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

_TERM = re.compile(r"(!?)([^\s!=,]+)\s*(?:(==?|!=)\s*([^,]*)|(in|notin)\s*\(([^)]*)\))?(?:,|$)")


@cache
def _terms(selector: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    found = []
    for no, key, sign, value, word, values in _TERM.findall(selector):
        if sign:
            found.append((key, "notin" if sign == "!=" else "in", frozenset([value.strip()])))
        elif word:
            found.append((key, word, frozenset(each.strip() for each in values.split(","))))
        else:
            found.append((key, "absent" if no else "present", frozenset()))
    return tuple(found)


def matches(selector: str, labels: Mapping[str, str]) -> bool:
    """Return whether labels fit a selector, as `a=b,c!=d,e in (f,g),!h`."""
    for key, word, values in _terms(selector):
        value = labels.get(key)
        fits = {
            "in": value in values,
            "notin": value not in values,
            "present": value is not None,
            "absent": value is None,
        }[word]
        if not fits:
            return False
    return True
