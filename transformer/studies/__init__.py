"""Families: small models that are trained alike but for one thing, and compared (the paper's table 3 in small)."""
