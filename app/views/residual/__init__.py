"""The page residual."""
