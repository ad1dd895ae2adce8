"""Faster versions of single torch expressions. Each file states the expression, why its code is faster and by how much,
and the test that compares the two. The gains were measured with torch 2.13 on two cores of an AMD EPYC (Zen 5);
`python -m tests.benchmarks.kernels` measures them on your machine.

Nothing here depends on models, text or training: it imports only torch.
"""
