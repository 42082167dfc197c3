import sys

import pytest

from research.style import COLOURS, WIDTH, figure, not_run_yet


def test_a_figure_is_saved_as_vector_and_png(tmp_path):
    with figure(tmp_path / "deep" / "made", 1, 2, 2.0) as (left, right):
        left.plot([0, 1], color=COLOURS[0])
        left.set_title("letters stay letters")
        not_run_yet(right)
    svg = (tmp_path / "deep" / "made.svg").read_text()
    assert ">letters stay letters<" in svg
    assert ">not run yet<" in svg
    header = (tmp_path / "deep" / "made.png").read_bytes()[16:24]
    assert int.from_bytes(header[:4]) == round(160 * WIDTH)


def test_the_same_figure_is_the_same_file(tmp_path):
    for name in "ab":
        with figure(tmp_path / name, 1, 1, 2.0) as (axis,):
            axis.plot([0, 1])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_without_matplotlib_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with (
        pytest.raises(ImportError, match=r"A figure needs matplotlib; run pip install \"tamis\[all\]\""),
        figure(tmp_path / "made", 1, 1, 2.0),
    ):
        pass
