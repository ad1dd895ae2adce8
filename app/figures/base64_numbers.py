"""Arrays as text, for the scripts of the components: their bytes in base64, which components/shared/arrays.js reads."""

from base64 import b64encode

import numpy as np

LEVELS = 65_535  # of a weight in 16 bits: enough for the digits that are shown


def in_base64(values: np.ndarray, dtype: str = "<f4") -> str:
    """The numbers of an array as this type, row by row; `numbersIn` reads them."""
    return b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()


def weights_in_base64(weights: np.ndarray) -> str:
    """Weights, 0 to 1, in 16 bits each; `unpacked` of components/shared/head_map.js reads them."""
    return in_base64(np.rint(weights * LEVELS), "<u2")
