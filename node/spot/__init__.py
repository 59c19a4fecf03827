"""Sees that AWS takes this instance away, before it does."""
