"""The page scaling."""
