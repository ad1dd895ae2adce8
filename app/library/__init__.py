"""What is read from files: checkpoints, cards, published scores, runs, snapshots, source code."""
