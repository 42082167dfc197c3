from io import StringIO

from rich.console import Console
from sklearn.base import clone

from tamis import LSCAE, ProgressBar


def test_a_fit_moves_the_bar_to_its_end_also_when_cloned(blobs, quick):
    console = Console(file=StringIO(), force_terminal=True, width=80)
    with ProgressBar(console) as bar:
        selector = clone(LSCAE(2, callbacks=bar, **quick)).fit(blobs.X)
    shown = console.file.getvalue()
    assert "Training" in shown
    assert f"J = {selector.history_['objective'][-1]:.2f}" in shown
