"""What the pages of docs show below a command: ``python tests/cli/docs_console.py`` writes it anew."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/command-line.md",
    *(f"docs/paths/{p}.md" for p in ("data-scientist", "biologist", "researcher")),
]
BLOCK = re.compile(r"```console\n\$ (tamis [^\n]*)\n(.*?)```", re.S)
TERMINAL = (
    "import sys, tamis.cli.output as o; o.is_terminal = lambda: True; from tamis.cli import main; main(sys.argv[1:])"
)


def make_tables(folder):
    """Write the tables that the pages start from."""
    import dirty_tables
    from sklearn.datasets import load_wine

    dirty_tables.customers(folder / "customers.csv")
    dirty_tables.counts(folder / "counts.csv")
    page = (ROOT / "docs/command-line.md").read_text()
    (folder / "survey.csv").write_text(re.search(r"```text\n(.*?)```", page, re.S)[1])
    wine = load_wine(as_frame=True)
    wine.frame.rename(columns={"target": "cultivar"}).to_csv(folder / "wine.csv", index=False)


def printed(command, folder):
    """Run a command as a person would, and return what is printed."""
    import shlex

    words = shlex.split(command)[1:]
    done = subprocess.run(
        [sys.executable, "-c", TERMINAL, *words], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"COLUMNS": "100"},
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines()) + "\n"


def main():
    """Write all outputs anew."""
    with tempfile.TemporaryDirectory() as name:
        make_tables(Path(name))
        for page in PAGES:
            path = ROOT / page
            shown = BLOCK.sub(lambda m: f"```console\n$ {m[1]}\n{printed(m[1], Path(name))}```", path.read_text())
            path.write_text(shown)


if __name__ == "__main__":
    main()
