"""What an adapter raises for what a user can mend."""


class AdapterError(Exception):
    """Shown as its message: place, value, what is allowed, what to do."""
