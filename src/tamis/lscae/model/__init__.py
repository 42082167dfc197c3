"""The network: a concrete layer that selects, and a decoder."""
