"""The FSEVAL protocol (PyPI ``sdufseval``) on the sets at hand, beside its published rows."""
