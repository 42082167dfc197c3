"""The guide "From an atlas to a panel": ``python -m research.panels.guide`` runs it and keeps its pictures."""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = DOCS / "gene-panels-guide.md"


def run_guide(folder: Path) -> dict[str, Any]:
    """Run the code of the guide in a folder, and return its variables."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    names: dict[str, Any] = {}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks:
            exec(compile(block, str(GUIDE), "exec"), names)
    finally:
        os.chdir(before)
        pyplot.close("all")
    return names


def main() -> int:
    """Run the guide, and put its pictures into the docs."""
    with tempfile.TemporaryDirectory() as folder:
        run_guide(Path(folder))
        for picture in sorted(Path(folder).glob("*.png")):
            (DOCS / "images" / picture.name).write_bytes(picture.read_bytes())
            print(DOCS / "images" / picture.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
