"""The page steps."""
