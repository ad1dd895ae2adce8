"""The page Multihead."""
