"""What is minimised: terms of one batch, the graph that they use, and their balanced sum."""
