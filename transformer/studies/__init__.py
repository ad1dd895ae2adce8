"""Families: small models that differ in one option, trained and compared (a small version of the paper's table 3)."""
