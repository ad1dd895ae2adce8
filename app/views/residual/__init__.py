"""The page Residual."""
