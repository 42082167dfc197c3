import pytest

from research.pages import Table, bar_chart, replace_parts, select_rows

PAGE = "# Words\n\n<!-- a: begin -->\nold\n<!-- a: end -->\n\n- list\n  <!-- b: begin -->\n  <!-- b: end -->\nmore\n"


def test_parts_are_replaced_and_words_are_kept(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    replace_parts(path, {"a": "| new |", "b": "  - entry"})
    assert path.read_text() == (
        "# Words\n\n<!-- a: begin -->\n| new |\n<!-- a: end -->\n\n"
        "- list\n  <!-- b: begin -->\n  - entry\n  <!-- b: end -->\nmore\n"
    )
    again = path.read_text()
    replace_parts(path, {"a": "| new |", "b": "  - entry"})
    assert path.read_text() == again


def test_a_part_without_marks_is_named_and_nothing_is_written(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    with pytest.raises(ValueError, match=r"the part 'c' has no place; put one line '<!-- c: begin -->' before"):
        replace_parts(path, {"a": "x", "c": "y"})
    assert path.read_text() == PAGE


def test_markdown_aligns_numbers_to_the_right():
    assert Table("t", "T", ["a", "b"], [["x", "1"]]).markdown() == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_rows_are_selected_by_their_trials():
    rows = [{"trial": {"k": 1, "seed": 0}}, {"trial": {"k": 1, "seed": 1}}, {"trial": {"seed": 0}}]
    assert select_rows(rows, k=1, seed=0) == rows[:1]


def test_a_chart_has_a_bar_for_every_entry_and_series(tmp_path):
    bar_chart({"one": {"x": [0.5], "y": [1.0, 0.0]}, "two": {"x": [0.1], "y": [0.2]}}, "share", tmp_path / "chart")
    svg = (tmp_path / "chart.svg").read_text()
    assert all(f">{word}<" in svg for word in ("one", "two", "x", "y", "share"))
    assert (tmp_path / "chart.png").stat().st_size > 2000
