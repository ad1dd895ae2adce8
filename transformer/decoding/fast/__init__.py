"""The inference copy of the model, for decoding on a CPU. Its definition is Transformer.start and Transformer.step."""
