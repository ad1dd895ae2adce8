"""The weights that an inference copy was made from, and whether they are still those of the model."""

from torch import Tensor, nn


class CopiedWeights:
    """Remembers each weight of a model: its module and name, its memory, and how often it was written to."""

    def __init__(self, model: nn.Module):
        self._weights = [
            (module, name, weight, weight.data_ptr(), writes(weight))
            for module in model.modules()
            for name, weight in module.named_parameters(recurse=False)
        ]

    def are_current(self) -> bool:
        """Whether no weight was replaced, moved or written to."""
        return all(
            getattr(module, name) is weight and weight.data_ptr() == place and writes(weight) == count != -1
            for module, name, weight, place, count in self._weights
        )


def writes(weight: Tensor) -> int:
    """How often a tensor was written to; -1 if it was made in inference mode, where torch does not count."""
    return -1 if weight.is_inference() else weight._version
