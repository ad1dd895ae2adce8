"""Files: writing without loss, strict JSON."""
