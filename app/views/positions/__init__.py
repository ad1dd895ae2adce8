"""The page positions."""
