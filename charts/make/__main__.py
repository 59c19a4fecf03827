"""`python -m charts.make`: write the files, or with --check say which are not current."""

from __future__ import annotations

import sys

from .files import CHARTS, files


def main(arguments: list[str]) -> int:
    texts = files()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" in arguments:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(CHARTS.parent)}: run python -m charts.make\n")
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
        sys.stderr.write(f"{path.relative_to(CHARTS.parent)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
