"""The page lessons."""
