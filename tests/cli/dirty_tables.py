"""Tables as people have them, for the pages that start from a file."""

import numpy as np


def customers(path, n=400):
    """A dirty export: semicolons, decimal commas, currencies, percentages, dates, categories, gaps, identifiers."""
    rng = np.random.default_rng(0)
    wealth, activity, loyalty = rng.standard_normal((3, n))

    def noisy(factor, noise=0.4):
        return factor + noise * rng.standard_normal(n)

    def money(values):
        return [f"€ {value:,.2f}".translate(str.maketrans(",.", ".,")) for value in values]

    columns = {
        "customer_id": [f"C{number:05d}" for number in rng.permutation(n) + 10000],
        "signup": [
            f"{1 + i % 28:02d}.{1 + i % 12:02d}.{2024 - int(y)}" for i, y in enumerate(3 + np.abs(3 * noisy(loyalty)))
        ],
        "plan": np.where(noisy(wealth) > 0.6, "premium", np.where(noisy(wealth) > -0.4, "standard", "basic")).tolist(),
        "newsletter": np.where(noisy(activity, 0.8) > 0, "yes", "no").tolist(),
        "income": money(3000 * np.exp(0.4 * noisy(wealth, 0.2))),
        "rent": money(800 * np.exp(0.3 * noisy(wealth))),
        "savings_rate": [f"{value:.0f}%" for value in np.clip(15 + 8 * noisy(wealth), 0, 60)],
        "visits": rng.poisson(12 * np.exp(0.6 * activity)).astype(str).tolist(),
        "minutes": [f"{value:.1f}".replace(".", ",") for value in 30 * np.exp(0.6 * noisy(activity, 0.2))],
        "purchases": rng.poisson(4 * np.exp(0.5 * activity)).astype(str).tolist(),
        "shoe_size": rng.integers(36, 47, n).astype(str).tolist(),
        "lucky_number": rng.integers(1, 100, n).astype(str).tolist(),
        "remark": [f"called on day {day}, will call again" for day in rng.permutation(n)],
        "churned": np.where(noisy(loyalty + activity) < -0.8, "1", "0").tolist(),
    }
    for name, mark in (("rent", "n/a"), ("minutes", ""), ("visits", "-999")):
        for row in rng.permutation(n)[:12]:
            columns[name][row] = mark
    lines = [";".join(columns), *(";".join(cells) for cells in zip(*columns.values(), strict=True))]
    path.write_text("Export of the shop, 2024\n" + "\n".join(lines) + "\n", encoding="utf-8")


def counts(path, n_cells=240, n_types=4):
    """Counts of genes (in rows) by cells: each type of cell has markers, all have mitochondrial and silent genes."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, n_types, n_cells)
    genes = [f"MARK{kind}{letter}" for kind in range(n_types) for letter in "abcdef"]
    rate = np.full((len(genes), n_cells), 0.5)
    for place in range(len(genes)):
        rate[place, kinds == place // 6] = 8
    genes += [f"MT-{i}" for i in range(6)] + [f"HOUSE{i}" for i in range(40)] + [f"RARE{i}" for i in range(60)]
    depth = rng.lognormal(0, 0.3, n_cells)
    stress = rng.lognormal(0, 0.6, n_cells)
    table = np.vstack([rate, np.tile(20 * stress, (6, 1)), np.full((40, n_cells), 5), np.full((60, n_cells), 0.05)])
    cells = rng.poisson(table * depth)
    lines = [",".join(["gene", *(f"cell{i}" for i in range(n_cells))])]
    lines += [",".join([gene, *map(str, row)]) for gene, row in zip(genes, cells, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
