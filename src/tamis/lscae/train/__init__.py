"""The one training loop, its optimiser, and checkpoints."""
