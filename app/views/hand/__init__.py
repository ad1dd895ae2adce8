"""The page hand."""
