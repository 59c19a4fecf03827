"""The entry point of every training image; see `__main__.py`."""
