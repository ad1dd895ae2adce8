"""The page translate."""
