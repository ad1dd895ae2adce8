"""The page multihead."""
