"""When a difference between two results is rounding."""

ROUNDING = 1e-3  # a larger difference is not rounding: float32 sums in another order differ by less
