"""The trainer on one GPU: right, how fast, how much memory (bench/gpu.sh)."""
