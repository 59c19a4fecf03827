"""DataSync: what moto lacks of it, and the copying itself."""
