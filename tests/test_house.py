"""The rules of the house that no linter checks: small functions and small modules."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(path for room in ("src", "research") for path in (ROOT / room).rglob("*.py"))


def body_lines(function):
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: "/".join(path.parts[-2:]))
def test_modules_and_functions_are_small(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 350
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert {function.name: body_lines(function) for function in functions if body_lines(function) > 40} == {}


def lines_of_code(text):
    """Return the number of lines without blank ones, comments and docstrings."""
    strings = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    prose = {number for node in strings for number in range(node.lineno, node.end_lineno + 1)}
    lines = enumerate(map(str.strip, text.splitlines()), start=1)
    return sum(bool(line) and not line.startswith("#") and number not in prose for number, line in lines)


def test_the_library_is_small():
    assert sum(lines_of_code(path.read_text()) for path in (ROOT / "src").rglob("*.py")) <= 9836


def test_nine_in_ten_functions_are_short():
    trees = (ast.parse(path.read_text()) for path in (ROOT / "src").rglob("*.py"))
    lengths = [body_lines(node) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert sum(length < 25 for length in lengths) >= 0.9 * len(lengths)
