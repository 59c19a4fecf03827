"""What DataSync costs."""

from __future__ import annotations

from training.data.progress import format_bytes
from training.platforms.api import Cost
from training.prices.cost import cents_up

PAGE = "https://aws.amazon.com/datasync/pricing/"

USD_PER_GB = {"us-east-1": 0.0125}
"""Of data that is copied, in Basic mode, by region; a GB is 10^9 bytes here, the dearer reading.

From `PAGE`. A region that is not here is unknown: it is not guessed from another.
"""


def transfer_cost(region: str, total_bytes: int | None) -> Cost:
    """Return what a copy costs at most.

    Args:
        region: Where it runs.
        total_bytes: Of the source; None where nobody can say from here.
    """
    usd = USD_PER_GB.get(region)
    if usd is None:
        return _unknown(f"DataSync's price of a GB in {region} is not known here; see {PAGE}")
    said = f"DataSync: {usd} USD for each GB that it copies in {region} ({PAGE}, Basic mode)"
    if total_bytes is None:
        return _unknown(f"{said}; how much there is to copy is not known here")
    return Cost(
        per_hour=None,
        maximum=cents_up(usd * total_bytes / 1e9),
        assumptions=(
            f"{said}, {format_bytes(total_bytes)} at most",
            "left out: requests of S3, throughput of EFS, taxes, discounts",
        ),
    )


def _unknown(why: str) -> Cost:
    return Cost(per_hour=None, maximum=None, assumptions=(why,))
