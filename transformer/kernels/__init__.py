"""Faster equals of single torch expressions. Each file states the expression, why its code is faster and by how much,
and the test that compares them. The gains are from `python -m tests.benchmarks.kernels`, which measures them on your
machine, with torch 2.13 on two cores of an AMD EPYC (Zen 5).

Nothing here depends on models, text or training: it imports only torch.
"""
