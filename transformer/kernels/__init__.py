"""Faster equals of single torch expressions. Each file names the expression, why its own way is faster and by how much,
and the test that holds them equal. `python -m tests.benchmarks.kernels` measures them on your machine.

Nothing here knows of models, text or training: it imports torch alone.
"""
