"""The commands of `python -m transformer`, one function each, in files by what they are for; see `transformer.cli`."""
