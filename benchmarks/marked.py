"""Measured parts of a page of the docs, which stand between two marks."""


def put_between_marks(page, name, lines):
    """Replace what stands between ``<!-- name: begin -->`` and ``<!-- name: end -->``."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = page.read_text()
    middle = "\n".join([begin, *lines, end])
    page.write_text(text[: text.index(begin)] + middle + text[text.index(end) + len(end) :])
