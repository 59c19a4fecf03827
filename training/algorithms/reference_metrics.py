"""The 22 metrics of the original tutorial, which three of the algorithms print.

Names and regular expressions are those of aws/amazon-sagemaker-examples@6e42d82,
advanced_functionality/distributed_tensorflow_mask_rcnn, but for two: the original's
`IoU=0\\.5:\\s*(\\S+)` also matches the line of `IoU=0.5:0.95` and finds `0.95:` in it. `\\s+` does
not, and finds the same in its own lines.
"""

from __future__ import annotations

from training.algorithms.metric import Metric, metric

REFERENCE_METRICS: tuple[Metric, ...] = (
    metric("fastrcnn_losses/box_loss"),
    metric("fastrcnn_losses/label_loss"),
    metric("fastrcnn_losses/label_metrics/accuracy"),
    metric("fastrcnn_losses/label_metrics/false_negative"),
    metric("fastrcnn_losses/label_metrics/fg_accuracy"),
    metric("fastrcnn_losses/num_fg_label"),
    metric("maskrcnn_loss/accuracy"),
    metric("maskrcnn_loss/fg_pixel_ratio"),
    metric("maskrcnn_loss/maskrcnn_loss"),
    metric("maskrcnn_loss/pos_accuracy"),
    *(
        metric(f"mAP({kind})/{what}", space=r"\s+" if what == "IoU=0.5" else r"\s*")
        for kind in ("bbox", "segm")
        for what in ("IoU=0.5", "IoU=0.5:0.95", "IoU=0.75", "large", "medium", "small")
    ),
)
