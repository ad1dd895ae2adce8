"""The Transformer of "Attention Is All You Need", written to be read. See README.md for where to start."""
