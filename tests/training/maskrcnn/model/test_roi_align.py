"""Our pooling against torchvision's, values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 (its usual name)
from torchvision.ops import MultiScaleRoIAlign

from training.maskrcnn.model.roi_align import PyramidRoIAlign

SIZES = [(256, 192), (200, 192)]
BOXES = torch.tensor(
    [
        [10.0, 20, 60, 90],
        [0, 0, 192, 256],  # The whole picture, from a coarse level
        [5, 5, 5.5, 5.2],  # Less than a place
        [150, 200, 192, 256],  # Up to the corner
        [-20, -30, 40, 50],  # Beyond the frame
        [100, 100, 212, 212],  # At the border between two levels
    ]
)


def features() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return {
        str(level): torch.randn(
            2, 8, 64 >> level, 48 >> level, generator=generator
        ).requires_grad_()
        for level in range(4)
    }


@pytest.mark.parametrize("sampling_ratio", [1, 2])
@pytest.mark.parametrize("cells", [7, 14])
def test_pooling_and_its_gradient_are_those_of_torchvision(cells: int, sampling_ratio: int) -> None:
    own_features, their_features = features(), features()
    boxes = [BOXES, BOXES[:2] * 0.7]
    ours = PyramidRoIAlign(cells, sampling_ratio=sampling_ratio)(own_features, boxes, SIZES)
    theirs = MultiScaleRoIAlign(["0", "1", "2", "3"], cells, sampling_ratio)(
        their_features, boxes, SIZES
    )
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)
    weights = torch.randn(theirs.shape, generator=torch.Generator().manual_seed(2))
    (ours * weights).sum().backward()
    (theirs * weights).sum().backward()
    for name, level in own_features.items():
        torch.testing.assert_close(level.grad, their_features[name].grad, rtol=0, atol=1e-3)


@pytest.mark.parametrize("levels", [(2, 5), (4, 4)], ids=["pyramid", "one level"])
def test_aligned_pooling_is_that_of_torchvision(levels: tuple[int, int]) -> None:
    pool = PyramidRoIAlign(
        7, sampling_ratio=2, is_aligned=True, finest=levels[0], coarsest=levels[1]
    )
    maps = features() if levels == (2, 5) else {"0": features()["2"]}
    boxes = [BOXES, BOXES[:2] * 0.7]
    ours = pool(maps, boxes, SIZES)
    kernel = pool._pool_aligned(list(maps.values()), boxes)
    torch.testing.assert_close(ours, kernel, rtol=0, atol=1e-4)
    # A ramp along x: the mean over a cell is the value in its middle.
    ramp = (torch.arange(48.0) + 0.5).expand(1, 1, 64, 48) * 4
    pyramid = {str(level): F.avg_pool2d(ramp, 1 << level) for level in range(4)}
    alone = pyramid if levels == (2, 5) else {"0": pyramid["2"]}
    pooled = pool(alone, [torch.tensor([[40.0, 40, 110, 110]])], [(256, 192)])
    torch.testing.assert_close(pooled[0, 0, 0], 40 + (torch.arange(7) + 0.5) * 10)


@pytest.mark.parametrize("finest", [2, 4], ids=["pyramid", "one level"])
def test_torchvisions_kernel_knows_the_strides_however_much_of_a_batch_is_padding(
    finest: int,
) -> None:
    """GPUs take it."""
    pool = PyramidRoIAlign(7, sampling_ratio=2, finest=finest, coarsest=5 if finest == 2 else 4)
    maps = features() if finest == 2 else {"0": features()["2"]}
    boxes = [torch.tensor([[10.0, 20, 60, 90]]), torch.tensor([[0.0, 0, 90, 100]])]
    sizes = [(100, 90), (100, 90)]
    kernel = MultiScaleRoIAlign.forward(pool, maps, boxes, sizes)
    torch.testing.assert_close(pool(maps, boxes, sizes), kernel, rtol=0, atol=1e-4)


def test_no_boxes_pool_nothing_and_keep_the_graph() -> None:
    levels = features()
    pooled = PyramidRoIAlign(7, sampling_ratio=2)(levels, [torch.zeros(0, 4)] * 2, SIZES)
    assert pooled.shape == (0, 8, 7, 7)
    pooled.sum().backward()
    assert levels["0"].grad is not None
    assert not levels["0"].grad.any()
