"""The paper's data sets, experiments, figures and tables as commands: ``python -m research.paper``."""
