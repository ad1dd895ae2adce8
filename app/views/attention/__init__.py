"""The page attention."""
