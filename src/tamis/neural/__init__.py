"""The networks, their objective and the one training loop: torch only, no files, no printing.

All tensors carry a leading dimension of restarts: several fits from different random streams share every operation
and every batch, yet do not influence each other, since the loss is their sum and the optimiser works entry by entry.
"""
