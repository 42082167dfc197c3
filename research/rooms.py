"""Draw the rooms of the package and who imports whom: ``python -m research.rooms`` writes docs/images/rooms.svg."""

import tomllib
from collections import Counter
from pathlib import Path

import grimp
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
WIDTH, HEIGHT = 0.9, 0.5


def layers() -> list[list[str]]:
    """Return the rooms of each layer, from the top, as the import contract in pyproject.toml has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    lines = next(contract["layers"] for contract in contracts if contract["containers"] == ["tamis"])
    return [[room.strip(" ()") for room in line.split("|")] for line in lines]


def imports(rooms: set[str]) -> Counter[tuple[str, str]]:
    """Return how many modules of one room import modules of another."""
    graph = grimp.build_graph("tamis")
    found: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = tuple(name.split(".")[1] if "." in name else "" for name in (module, imported))
            if set(pair) <= rooms and pair[0] != pair[1]:
                found[pair[0], pair[1]] += 1
    return found


def draw(axes: Axes) -> None:
    """Draw rooms as boxes, the top layer above, and imports as arrows, the wider the more."""
    places = {}
    for depth, rooms in enumerate(layers()):
        for number, room in enumerate(rooms):
            places[room] = (1.2 * (number - (len(rooms) - 1) / 2), -depth)
            corner = (places[room][0] - WIDTH / 2, -depth - HEIGHT / 2)
            axes.add_patch(Rectangle(corner, WIDTH, HEIGHT, fc="#e8eef7", ec="#334455", zorder=2))
            axes.text(*places[room], room, ha="center", va="center", fontsize=9, zorder=3)
    for (importer, imported), count in imports(set(places)).items():
        (x0, y0), (x1, y1) = places[importer], places[imported]
        arrow = {"arrowstyle": "->", "color": "#8899aa", "lw": 0.4 + 0.15 * min(count, 12), "alpha": 0.8, "zorder": 1}
        side = 1 if (x0 + x1) >= 0 else -1
        bend = {"connectionstyle": f"arc3,rad={0.25 * side if y0 - y1 > 1 else 0}"}
        axes.annotate("", (x1, y1 + HEIGHT / 2), (x0, y0 - HEIGHT / 2), arrowprops=arrow | bend)
    axes.set(xlim=(-2.6, 2.6), ylim=(-len(layers()) + 0.4, 0.6))
    axes.axis("off")


def main() -> None:
    """Write the picture."""
    figure, axes = plt.subplots(figsize=(7, 8))
    draw(axes)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
