"""Reads hyperparameters, which are all text: as JSON or Python spells a value."""

import ast
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .adapter_error import AdapterError


def spelled(text: str) -> Any:
    """Return the value that a text spells.

    Raises:
        ValueError: It spells none.
    """
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    raise ValueError(text)


class Values:
    """The hyperparameters of a job, over an adapter's defaults.

    Every method takes a name and raises AdapterError, with name, value and what is allowed.
    """

    def __init__(
        self, given: Mapping[str, str], defaults: Mapping[str, str], prefix: Optional[str] = None
    ) -> None:
        """Take the texts.

        Args:
            defaults: All names that there are.
            prefix: What other names may begin with.

        Raises:
            AdapterError: A name is not known, so that its value would be lost.
        """
        for name in given:
            if name not in defaults and (prefix is None or not name.startswith(prefix)):
                raise AdapterError(
                    f"hyperparameter {name}: unknown; there are {', '.join(sorted(defaults))}"
                )
        self._texts: Dict[str, str] = {**defaults, **given}

    def text(self, name: str) -> str:
        return self._texts[name]

    def optional_text(self, name: str) -> str:
        """Return the text, empty where it is `None` or `null`."""
        text = self._texts.get(name, "")
        return "" if text in ("None", "null") else text

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        text = self._texts[name]
        if text not in allowed:
            raise self._wrong(name, " or ".join(allowed))
        return text

    def flag(self, name: str) -> bool:
        value = self._literal(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "True or False")
        return value

    def count(self, name: str) -> int:
        value = self._literal(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(name, "a whole number")
        return value

    def positive(self, name: str) -> int:
        if self.count(name) == 0:
            raise self._wrong(name, "1 or more")
        return self.count(name)

    def number(self, name: str) -> float:
        value = self._literal(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(name, "a number")
        return value

    def items(self, name: str) -> List[Any]:
        """Return a list; `1,2` and a single value are one too."""
        value = self._literal(name)
        return list(value) if isinstance(value, (list, tuple)) else [value]

    def pairs(self, name: str) -> List[Tuple[Any, Any]]:
        """Return a list of pairs, which JSON writes as lists."""
        pairs = [
            tuple(item) if isinstance(item, (list, tuple)) else () for item in self.items(name)
        ]
        if not all(len(pair) == 2 for pair in pairs):
            raise self._wrong(name, "a list of pairs")
        return pairs

    def names(self, name: str) -> List[str]:
        """Return a list of names: `a`, `a,b` or `["a", "b"]`."""
        try:
            value = spelled(self._texts[name])
        except ValueError:
            value = [part.strip() for part in self._texts[name].split(",")]
        names = list(value) if isinstance(value, (list, tuple)) else [value]
        if not names or not all(isinstance(each, str) and each for each in names):
            raise self._wrong(name, "a name, or a list of names")
        return names

    def with_prefix(self, prefix: str) -> Dict[str, str]:
        """Return the hyperparameters whose name begins so, without it, in their order."""
        return {
            name[len(prefix) :]: text
            for name, text in self._texts.items()
            if name.startswith(prefix)
        }

    def _literal(self, name: str) -> Any:
        try:
            return spelled(self._texts[name])
        except ValueError:
            raise self._wrong(name, "a value as JSON or Python writes it") from None

    def _wrong(self, name: str, expected: str) -> AdapterError:
        return AdapterError(f"hyperparameter {name}: {self._texts[name]!r}: expected {expected}")
