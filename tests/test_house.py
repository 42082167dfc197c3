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
