"""The inference copy of the model, for decoding on a CPU. Its definition is Transformer.start and Transformer.step. In
the order in which to read:

    search_model removed_parts                which model a search takes, and what edits remove of it
    fast_transformer norm folded_attention    the copy
    copied_weights fast_cache                 its weights, and its keys and values
"""
