"""The commands of `python -m transformer`, one function each. `transformer.cli` collects them."""
