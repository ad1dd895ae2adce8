"""Training pairs changed at random in each epoch, so that a model learns what its text shows too rarely."""
