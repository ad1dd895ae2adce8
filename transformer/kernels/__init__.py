"""Faster equals of single torch expressions. Each file names the expression, why its own way is faster and by how much,
and the test that holds them equal. The gains are from `python -m tests.benchmarks.kernels`, which measures them on your
machine, with torch 2.13 on two cores of an AMD EPYC (Zen 5).

Nothing here knows of models, text or training: it imports torch alone.
"""
