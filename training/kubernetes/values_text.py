"""Values as helm reads them: JSON that YAML takes for the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_ALTERED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What YAML 1.1 takes for a line's end, or not at all, where it is not escaped. A character beyond
U+FFFF must stand as it is: JSON escapes it as two halves, which YAML knows nothing of."""


def values_text(values: Mapping[str, Any] | None) -> str:
    """Return what goes to helm's standard input; nothing for no values."""
    if values is None:
        return ""
    text = json.dumps(values, ensure_ascii=False)
    return _ALTERED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
