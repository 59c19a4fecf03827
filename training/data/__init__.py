"""COCO data: made, checked, staged to where jobs read it, and compared there."""
