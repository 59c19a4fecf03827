"""Auto-scaling groups that keep their size, and say what they did and why they could not."""
