"""Fetch public data sets and weights: resumable, from several addresses, verified before use."""
