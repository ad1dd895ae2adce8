"""The page training."""
