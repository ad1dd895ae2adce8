"""The address of a data set of Hugging Face, which can be given in the place of a file: hf:NAME:CONFIG:SPLIT.

`transformer/data/hugging_face.py` says what the parts mean, and reads the data set.
"""

PREFIX = "hf:"


def is_data_set(name: str) -> bool:
    """Whether `name` is the address of a data set, and not the path of a file."""
    return name.startswith(PREFIX)
