"""The page Hand."""
