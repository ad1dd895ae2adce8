"""Files: writing without loss, strict JSON, checksums, and values that come from files."""
