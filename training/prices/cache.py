"""The prices that the user has fetched: a file for each service and region, in the user's cache.

They are of the user's own account and day, so that the package never holds them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from training.base_folders import cache_folder
from training.errors import UsageError
from training.prices.price_list import PriceList, read_price_list


def price_cache(environ: Mapping[str, str]) -> Path:
    """Return the folder of the fetched prices; it need not be there.

    Args:
        environ: Of the user; a plan is made for the environment that it is given, and no other.
    """
    return cache_folder(environ, "prices")


def cached_file(cache: Path, service: str, region: str) -> Path:
    return cache / f"{service}.{region}.json"


def read_cached(file: Path) -> PriceList | None:
    """Return a list that was fetched; None where there is none.

    Raises:
        ValueError: The file holds something else, such as another region's list, or cannot be
            read.
    """
    try:
        found = read_price_list(json.loads(file.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if cached_file(file.parent, found.service, found.region) != file:
        raise ValueError(f"the prices of {found.service} in {found.region}")
    return found


def write_cached(cache: Path, prices: PriceList) -> Path:
    """Keep a list in the place of the one before, and return its file.

    Raises:
        UsageError: The cache cannot be written.
    """
    # Not for a plan: it reads only.
    from training.maskrcnn.files import write_atomically

    file = cached_file(cache, prices.service, prices.region)
    text = json.dumps(prices.to_json(), indent=2) + "\n"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode())
    except OSError as error:
        raise UsageError(
            f"{file}: prices cannot be kept there: {error.strerror}; "
            "set XDG_CACHE_HOME to a folder that you may write"
        ) from error
    return file
