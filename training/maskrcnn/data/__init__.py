"""From a data set in COCO's layout to batches of tensors."""
