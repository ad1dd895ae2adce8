"""The page decoding."""
