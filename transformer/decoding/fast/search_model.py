"""Which model a search takes: the inference copy, or the model itself."""

from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.fast.removed_parts import removed_parts
from transformer.model import EditedTransformer, Transformer

SearchModel = Transformer | FastTransformer


def search_model(model: Transformer, unedited: SearchModel | None = None) -> SearchModel:
    """The model for a search: on a CPU its inference copy, which is measured to be faster there. The copy can apply
    only edits that remove heads and sub-layers; with other edits the model itself is returned.

    Args:
        unedited: what this function returned for the model without edits; an inference copy with edits shares its
            weights.
    """
    if not model.output.weight.is_cpu:
        return model
    if not isinstance(model, EditedTransformer):
        return FastTransformer(model)
    removed = removed_parts(model.edits)
    if removed is None or isinstance(model.unedited, EditedTransformer):  # edited twice: only the model has all edits
        return model
    fast = unedited if isinstance(unedited, FastTransformer) else FastTransformer(model.unedited)
    return fast.without(removed)


def refreshed(known: SearchModel, model: Transformer) -> SearchModel:
    """What `search_model` returned for a model; a new copy if the weights have changed since then."""
    return search_model(model) if isinstance(known, FastTransformer) and not known.is_current() else known
