"""How often a picture comes in each pass, so that rare categories are seen more often.

Repeat factor sampling of Gupta, Dollár, Girshick, "LVIS: A Dataset for Large Vocabulary Instance
Segmentation", CVPR 2019 (https://arxiv.org/abs/1908.03195): with f(c) the share of pictures that
have category c, a category's factor is max(1, sqrt(threshold / f(c))), and a picture's the largest
among its categories.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from training.maskrcnn.data.records import Records


def repeat_factors(records: Records, threshold: float) -> NDArray[np.float64]:
    """Return each picture's factor: (N,), at least 1.

    Args:
        threshold: The share of pictures below which a category is rare; LVIS takes 0.001.
    """
    pictures, labels = records.object_labels()
    width = int(labels.max(initial=0)) + 1
    # Each category of a picture once.
    pictures, labels = np.divmod(np.unique(pictures * width + labels), width)
    shares = np.bincount(labels) / max(len(records), 1)
    factors = np.ones(len(records))
    np.maximum.at(factors, pictures, np.sqrt(threshold / shares[labels]))
    return factors
