"""Which model a search takes: the inference copy, or the model itself."""

from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.fast.removed_parts import removed_parts
from transformer.model import EditedTransformer, Transformer


def search_model(
    model: Transformer, unedited: Transformer | FastTransformer | None = None
) -> Transformer | FastTransformer:
    """The model for a search: on a CPU its inference copy, which is measured to be faster there. Of edits it knows only
    those that remove heads and sub-layers.

    Args:
        unedited: what this function returned for the model without edits; an inference copy with edits shares its
            weights.
    """
    if not model.output.weight.is_cpu:
        return model
    if not isinstance(model, EditedTransformer):
        return FastTransformer(model)
    removed = removed_parts(model.edits)
    if removed is None or isinstance(model.unedited, EditedTransformer):  # edits of edits: only the model has them all
        return model
    fast = unedited if isinstance(unedited, FastTransformer) else FastTransformer(model.unedited)
    return fast.without(removed)
