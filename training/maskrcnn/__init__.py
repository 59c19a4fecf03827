"""The first-party trainer: Mask R-CNN on torchvision, over Horovod or torch.distributed."""
