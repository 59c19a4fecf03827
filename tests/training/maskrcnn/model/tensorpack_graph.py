"""TensorPack's Mask R-CNN, computed plainly from arrays with TensorPack's names.

After examples/FasterRCNN/modeling at tensorpack/tensorpack@db541e8, for one picture in inference,
in its layouts: pixels are (H, W, 3) blue, green, red; kernels (height, width, in, out). Nothing of
it comes from the trainer or from torchvision, but for non-maximum suppression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, log
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (its usual name)
from torchvision.ops import nms

Arrays = dict[str, NDArray[np.float32]]

BLOCKS = {"resnet50": (3, 4, 6, 3)}
SIZES, RATIOS = (32, 64, 128, 256, 512), (0.5, 1.0, 2.0)
PIXEL_MEAN, PIXEL_STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
NMS_PROPOSALS, NMS_RESULTS = 0.7, 0.5
REGRESSION_WEIGHTS = (10.0, 10.0, 5.0, 5.0)


class RandomArrays:
    """Makes the arrays that TensorPack would have saved, with random numbers."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.arrays: Arrays = {}

    def _normal(self, deviation: float, *shape: int) -> NDArray[np.float32]:
        return (self._random.standard_normal(shape) * deviation).astype(np.float32)

    def _uniform(self, low: float, high: float, size: int) -> NDArray[np.float32]:
        return self._random.uniform(low, high, size).astype(np.float32)

    def conv(self, name: str, side: int, channels: tuple[int, int], deviation: float = 0) -> None:
        self.arrays[f"{name}/W"] = self._normal(
            deviation or (2 / (side * side * channels[0])) ** 0.5, side, side, *channels
        )
        self.arrays[f"{name}/b"] = self._normal(0.1, channels[1])

    def dense(self, name: str, size: tuple[int, int], deviation: float = 0) -> None:
        self.arrays[f"{name}/W"] = self._normal(deviation or (2 / size[0]) ** 0.5, *size)
        self.arrays[f"{name}/b"] = self._normal(0.1, size[1])

    def normed_conv(
        self, name: str, side: int, channels: tuple[int, int], norm: str, gain: float = 1
    ) -> None:
        self.conv(name, side, channels)
        del self.arrays[f"{name}/b"]
        out = channels[1]
        self.arrays[f"{name}/{norm}/gamma"] = self._uniform(0.8 * gain, 1.2 * gain, out)
        self.arrays[f"{name}/{norm}/beta"] = self._normal(0.1, out)
        if norm == "bn":
            self.arrays[f"{name}/bn/mean/EMA"] = self._normal(0.1, out)
            self.arrays[f"{name}/bn/variance/EMA"] = self._uniform(0.5, 1.5, out)

    def resnet(self, arch: str = "resnet50", norm: str = "bn") -> None:
        self.normed_conv("conv0", 7, (3, 64), norm)
        channels = 64
        for group, blocks in enumerate(BLOCKS[arch]):
            width = 64 << group
            for block in range(blocks):
                name = f"group{group}/block{block}"
                self.normed_conv(f"{name}/conv1", 1, (channels, width), norm)
                self.normed_conv(f"{name}/conv2", 3, (width, width), norm)
                self.normed_conv(f"{name}/conv3", 1, (width, 4 * width), norm, gain=0.2)
                if block == 0:
                    self.normed_conv(f"{name}/convshortcut", 1, (channels, 4 * width), norm)
                channels = 4 * width

    def proposal_head(self, channels: int, anchors: int) -> None:
        self.conv("rpn/conv0", 3, (channels, channels))
        self.conv("rpn/class", 1, (channels, anchors), 0.05)
        self.conv("rpn/box", 1, (channels, 4 * anchors), 0.005)

    def box_outputs(self, name: str, channels: int, categories: int) -> None:
        self.dense(f"{name}class", (channels, categories + 1), 0.3 / channels**0.5)
        self.dense(f"{name}box", (channels, 4 * (categories + 1)), 0.3 / channels**0.5)

    def mask_outputs(self, channels: int, width: int, categories: int) -> None:
        self.conv("maskrcnn/deconv", 2, (width, channels))
        self.arrays["maskrcnn/deconv/b"] = self._normal(0.1, width)
        self.conv("maskrcnn/conv", 1, (width, categories), 0.1)


def fpn_arrays(*, categories: int, width: int, hidden: int, seed: int) -> Arrays:
    """Return a Mask R-CNN with a pyramid of `width` channels."""
    made = RandomArrays(seed)
    made.resnet()
    for level, channels in enumerate((256, 512, 1024, 2048), start=2):
        made.conv(f"fpn/lateral_1x1_c{level}", 1, (channels, width))
        made.conv(f"fpn/posthoc_3x3_p{level}", 3, (width, width))
    made.proposal_head(width, len(RATIOS))
    made.dense("fastrcnn/fc6", (width * 49, hidden))
    made.dense("fastrcnn/fc7", (hidden, hidden))
    made.box_outputs("fastrcnn/outputs/", hidden, categories)
    for layer in range(4):
        made.conv(f"maskrcnn/fcn{layer}", 3, (width, width))
    made.mask_outputs(width, width, categories)
    return made.arrays


def c4_arrays(*, categories: int, width: int, seed: int) -> Arrays:
    """Return a Mask R-CNN on C4 whose mask head has `width` channels."""
    made = RandomArrays(seed)
    made.resnet()
    made.proposal_head(1024, len(SIZES) * len(RATIOS))
    made.box_outputs("fastrcnn/", 2048, categories)
    made.mask_outputs(2048, width, categories)
    return made.arrays


class Graph:
    """What TensorPack computes of one picture."""

    def __init__(
        self, arrays: Mapping[str, Any], *, has_pyramid: bool, top: int, results: int
    ) -> None:
        """Args:
        top: Proposals a level before suppression, and all of them after it.
        results: Detections at most.
        """
        self._arrays = {name: torch.from_numpy(array) for name, array in arrays.items()}
        self._has_pyramid = has_pyramid
        self._top, self._results = top, results

    # Layers

    def conv(self, x: Tensor, name: str, *, stride: int = 1, pad: bool = True) -> Tensor:
        """A convolution, with bias where there is one; `pad` is TensorFlow's SAME, else VALID."""
        kernel = self._arrays[f"{name}/W"].permute(3, 2, 0, 1)
        if pad:
            x = F.pad(x, [*_same(x.shape[3], kernel, stride), *_same(x.shape[2], kernel, stride)])
        return F.conv2d(x, kernel, self._arrays.get(f"{name}/b"), stride)

    def norm(self, x: Tensor, name: str) -> Tensor:
        if f"{name}/gn/gamma" in self._arrays:
            gamma, beta = (self._arrays[f"{name}/gn/{part}"] for part in ("gamma", "beta"))
            groups = x.reshape(x.shape[0], 32, -1)
            mean, variance = groups.mean(2, keepdim=True), groups.var(2, correction=0, keepdim=True)
            x = ((groups - mean) / (variance + 1e-5).sqrt()).reshape(x.shape)
            return x * gamma[:, None, None] + beta[:, None, None]
        gamma, beta, mean, variance = (
            self._arrays[f"{name}/bn/{part}"][:, None, None]
            for part in ("gamma", "beta", "mean/EMA", "variance/EMA")
        )
        return (x - mean) / (variance + 1e-5).sqrt() * gamma + beta

    def dense(self, x: Tensor, name: str) -> Tensor:
        return x.flatten(1) @ self._arrays[f"{name}/W"] + self._arrays[f"{name}/b"]

    # Backbone

    def picture(self, pixels: Tensor) -> Tensor:
        """(H, W, 3) blue, green, red to what the backbone gets, (1, 3, H, W)."""
        mean, deviation = torch.tensor(PIXEL_MEAN[::-1]), torch.tensor(PIXEL_STD[::-1])
        return ((pixels.float() - mean) / deviation).permute(2, 0, 1)[None]

    def bottleneck(self, x: Tensor, name: str, stride: int) -> Tensor:
        y = F.relu(self.norm(self.conv(x, f"{name}/conv1"), f"{name}/conv1"))
        if stride == 2:
            y = self.conv(F.pad(y, [1, 0, 1, 0]), f"{name}/conv2", stride=2, pad=False)
        else:
            y = self.conv(y, f"{name}/conv2")
        y = F.relu(self.norm(y, f"{name}/conv2"))
        y = self.norm(self.conv(y, f"{name}/conv3"), f"{name}/conv3")
        if f"{name}/convshortcut/W" in self._arrays:
            if stride == 2 and not self._has_pyramid:
                x = x[:, :, :-1, :-1]
            x = self.conv(x, f"{name}/convshortcut", stride=stride)
            x = self.norm(x, f"{name}/convshortcut")
        return F.relu(x + y)

    def group(self, x: Tensor, group: int, stride: int) -> Tensor:
        for block in range(BLOCKS["resnet50"][group]):
            x = self.bottleneck(x, f"group{group}/block{block}", stride if block == 0 else 1)
        return x

    def backbone(self, picture: Tensor) -> list[Tensor]:
        """Return C2 to C5, or C4 alone without a pyramid."""
        height, width = picture.shape[2:]
        more = [0, 0]
        if self._has_pyramid:
            more = [ceil(width / 32) * 32 - width, ceil(height / 32) * 32 - height]
        x = F.pad(picture, [3, 2 + more[0], 3, 2 + more[1]])
        x = F.relu(self.norm(self.conv(x, "conv0", stride=2, pad=False), "conv0"))
        x = F.max_pool2d(F.pad(x, [1, 0, 1, 0]), 3, 2)
        stages = []
        for group in range(4 if self._has_pyramid else 3):
            x = self.group(x, group, 1 if group == 0 else 2)
            stages.append(x)
        return stages if self._has_pyramid else stages[-1:]

    def pyramid(self, stages: list[Tensor]) -> list[Tensor]:
        """Return P2 to P6."""
        sums: list[Tensor] = []
        for level in (5, 4, 3, 2):
            lateral = self.conv(stages[level - 2], f"fpn/lateral_1x1_c{level}")
            if sums:
                lateral = lateral + sums[0].repeat_interleave(2, 2).repeat_interleave(2, 3)
            sums.insert(0, lateral)
        levels = [self.conv(x, f"fpn/posthoc_3x3_p{level}") for level, x in enumerate(sums, 2)]
        return [*levels, levels[-1][:, :, ::2, ::2]]

    # Proposals

    def proposals(self, levels: list[Tensor], size: tuple[int, int]) -> Tensor:
        """Return (P, 4), best first."""
        all_boxes, all_scores = [], []
        for index, features in enumerate(levels):
            stride = 4 << index if self._has_pyramid else 16
            sizes = SIZES[index : index + 1] if self._has_pyramid else SIZES
            hidden = F.relu(self.conv(features, "rpn/conv0"))
            scores = self.conv(hidden, "rpn/class")[0].permute(1, 2, 0).flatten()
            deltas = self.conv(hidden, "rpn/box")[0].permute(1, 2, 0).reshape(-1, 4)
            boxes = _decode(deltas, _anchors(features.shape[2:], stride, sizes))
            best = scores.topk(min(self._top, len(scores))).indices
            boxes, scores = _clip(boxes[best], size), scores[best]
            # TensorPack keeps boxes without area, of anchors beside the picture: they show nothing.
            there = (boxes[:, 2:] > boxes[:, :2]).all(dim=1)
            boxes, scores = boxes[there], scores[there]
            kept = nms(boxes, scores, NMS_PROPOSALS)[: self._top]
            all_boxes.append(boxes[kept])
            all_scores.append(scores[kept])
        boxes, scores = torch.cat(all_boxes), torch.cat(all_scores)
        return boxes[scores.topk(min(self._top, len(scores))).indices]

    # Heads

    def pool(self, levels: list[Tensor], boxes: Tensor, cells: int) -> Tensor:
        if not self._has_pyramid:
            return _roi_align(levels[0], boxes / 16, cells)
        areas = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1)
        level_of = (4 + (areas.sqrt() / 224 + 1e-6).log() / log(2)).floor().clamp(2, 5)
        pooled = boxes.new_zeros((len(boxes), levels[0].shape[1], cells, cells))
        for level in (2, 3, 4, 5):
            rows = torch.where(level_of == level)[0]
            pooled[rows] = _roi_align(levels[level - 2], boxes[rows] / (1 << level), cells)
        return pooled

    def box_outputs(self, levels: list[Tensor], boxes: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (R, categories + 1) and deltas (R, categories + 1, 4)."""
        if self._has_pyramid:
            x = F.relu(self.dense(self.pool(levels, boxes, 7), "fastrcnn/fc6"))
            x = F.relu(self.dense(x, "fastrcnn/fc7"))
            name = "fastrcnn/outputs/"
        else:
            x = self.group(self.pool(levels, boxes, 14), 3, 2).mean(dim=(2, 3))
            name = "fastrcnn/"
        logits = self.dense(x, f"{name}class")
        return logits, self.dense(x, f"{name}box").reshape(len(x), -1, 4)

    def masks(self, levels: list[Tensor], boxes: Tensor, labels: Tensor) -> Tensor:
        """Return probabilities, (D, M, M)."""
        x = self.pool(levels, boxes, 14)
        if self._has_pyramid:
            for layer in range(4):
                x = F.relu(self.conv(x, f"maskrcnn/fcn{layer}"))
        else:
            x = self.group(x, 3, 2)
        x = F.relu(_deconv(x, self._arrays["maskrcnn/deconv/W"], self._arrays["maskrcnn/deconv/b"]))
        logits = self.conv(x, "maskrcnn/conv")
        return logits[torch.arange(len(labels)), labels - 1].sigmoid()

    def detect(self, pixels: Tensor) -> dict[str, Tensor]:
        """Return boxes, scores, labels and masks of one picture."""
        size = (pixels.shape[0], pixels.shape[1])
        levels = self.backbone(self.picture(pixels))
        if self._has_pyramid:
            levels = self.pyramid(levels)
        proposals = self.proposals(levels, size)
        logits, deltas = self.box_outputs(levels, proposals)
        decoded = _decode(
            deltas / torch.tensor(REGRESSION_WEIGHTS), proposals[:, None].expand_as(deltas)
        )
        boxes, scores = _clip(decoded, size)[:, 1:], logits.softmax(dim=1)[:, 1:]
        there = (boxes[..., 2:] > boxes[..., :2]).all(dim=2)
        rows, categories = torch.where((scores > 0.05) & there)
        found, found_scores = boxes[rows, categories], scores[rows, categories]
        apart = categories[:, None] * (boxes.max() + 1)
        kept = nms(found + apart, found_scores, NMS_RESULTS)[: self._results]
        result = {
            "boxes": found[kept],
            "scores": found_scores[kept],
            "labels": categories[kept] + 1,
        }
        return {**result, "masks": self.masks(levels, result["boxes"], result["labels"])}


def _same(size: int, kernel: Tensor, stride: int) -> tuple[int, int]:
    """TensorFlow's padding SAME before and after one side."""
    total = max((ceil(size / stride) - 1) * stride + kernel.shape[-1] - size, 0)
    return total // 2, total - total // 2


def _deconv(x: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """A transposed 2x2 convolution of stride 2; kernel: (2, 2, out, in)."""
    cells = torch.einsum("ncyx,abdc->ndyaxb", x, kernel)
    grown = cells.reshape(x.shape[0], kernel.shape[2], 2 * x.shape[2], 2 * x.shape[3])
    return grown + bias[:, None, None]


def _anchors(shape: Iterable[int], stride: int, sizes: tuple[int, ...]) -> Tensor:
    height, width = shape
    anchors = []
    for y in range(height):
        for x in range(width):
            for size in sizes:
                for ratio in RATIOS:
                    w = (size * size / ratio) ** 0.5
                    h = ratio * w
                    center_x, center_y = x * stride, y * stride
                    anchors.append(
                        [center_x - w / 2, center_y - h / 2, center_x + w / 2, center_y + h / 2]
                    )
    return torch.tensor(anchors)


def _decode(deltas: Tensor, boxes: Tensor) -> Tensor:
    sizes = boxes[..., 2:] - boxes[..., :2]
    centers = (boxes[..., 2:] + boxes[..., :2]) / 2
    new_centers = deltas[..., :2] * sizes + centers
    new_sizes = deltas[..., 2:].clamp(max=log(1344 / 16)).exp() * sizes
    return torch.cat([new_centers - new_sizes / 2, new_centers + new_sizes / 2], dim=-1)


def _clip(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    return boxes.clamp(min=0).minimum(torch.tensor([size[1], size[0]] * 2, dtype=boxes.dtype))


def _roi_align(features: Tensor, boxes: Tensor, cells: int) -> Tensor:
    """Two samples a side of each cell; a feature stands in the middle of its place."""
    count = 2 * cells
    steps = (torch.arange(count) + 0.5) / count
    x, y = (
        boxes[:, side, None] + (boxes[:, side + 2] - boxes[:, side])[:, None] * steps - 0.5
        for side in (0, 1)
    )
    rows, columns = (
        _weights(at, size) for at, size in zip((y, x), features.shape[2:], strict=True)
    )
    samples = torch.einsum("rih,chw,rjw->rcij", rows, features[0], columns)
    return F.avg_pool2d(samples, 2)


def _weights(at: Tensor, size: int) -> Tensor:
    """Return what each place of `size` contributes to samples at positions (R, S): (R, S, size)."""
    clamped = at.clamp(0, size - 1)
    return (1 - (clamped[..., None] - torch.arange(size)).abs()).clamp(min=0)
