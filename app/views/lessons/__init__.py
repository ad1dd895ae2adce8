"""The page Lessons."""
