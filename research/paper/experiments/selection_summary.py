"""Tables and words for the clustering accuracies of all methods."""

import numpy as np

from research.pages import Rows, Table, select_rows
from research.paper.experiment import values_of
from research.paper.experiments.data_statistics import described_name, printed_name
from research.paper.experiments.selection_figure import draw as draw
from research.paper.fits import WAYS
from research.paper.printed import METHODS, printed
from research.paper.ranks import mean_and_median_ranks
from research.paper.sources import DATASETS

NEAREST = "unscaled_accuracy_random_start"
"""The way of clustering in which all features come nearest to what the paper prints for them (table-stats)."""

FIXED = 100
"""The k of the protocol that does not look at labels."""


def data_in_order(rows: Rows) -> list[str]:
    """Return the data sets that have rows, in the paper's order."""
    there = values_of(rows, "data")
    known = [one.name for one in DATASETS if one.name in there]
    return known + [name for name in there if name not in known]


def accuracies(rows: Rows, data: str, method: str, start: str = "accuracy") -> dict[int, list[float]]:
    """Return the accuracies in percent at every k, one a seed."""
    found = [row for row in select_rows(rows, data=data, method=method) if start in row]
    return {k: [100 * row[start] for row in found if row["trial"]["k"] == k] for k in values_of(found, "k")}


def best(rows: Rows, data: str, method: str, start: str = "accuracy") -> tuple[float, int] | None:
    """Return the highest mean accuracy over k, and that k: the paper's protocol, which looks at labels to choose k."""
    means = {k: float(np.mean(values)) for k, values in accuracies(rows, data, method, start).items()}
    if not means:
        return None
    k = max(means, key=lambda size: means[size])
    return means[k], k


def tables(rows: Rows) -> list[Table]:
    """Make the paper's table, how it depends on the way of clustering, the other methods, and the label-free one."""
    done = values_of(rows, "method")
    others = [name for name in done if name not in METHODS.values()]
    made = [_best_of_k(rows, "accuracy"), _best_of_k(rows, NEAREST), *_by_way(rows)]
    if others:
        lines = [
            [described_name(data), *(_text(best(rows, data, method)) for method in others)]
            for data in data_in_order(rows)
        ]
        title = "The other methods in the paper's protocol, k-means++: best mean accuracy in percent, and its k"
        made.append(Table("table-results-others", title, ["data set", *others], lines))
    return [*made, _without_labels(rows)]


def _best_of_k(rows: Rows, start: str) -> Table:
    lines = []
    for data in data_in_order(rows):
        known = printed()["results"].get(printed_name(data), {})
        cells = [f"{_text(best(rows, data, METHODS[m], start))} / {_text(known.get(m))}" for m in METHODS]
        lines.append([described_name(data), *cells])
    lines += _rank_lines(rows, start)
    name = "table-results" + ("" if start == "accuracy" else "-as-they-are")
    title = f"Best mean accuracy in percent, and its k: ours / printed; features {WAYS[start]}"
    return Table(name, title, ["data set", *METHODS], lines)


def _by_way(rows: Rows) -> list[Table]:
    """Make the accuracies of LS-CAE and the mean ranks of all methods, for every way of clustering."""
    sets = [data for data in data_in_order(rows) if printed_name(data) in printed()["results"]]
    ours = [
        [described_name(data), *(_text(best(rows, data, "lscae", way)) for way in WAYS), _printed_text(data, "LS-CAE")]
        for data in sets
        if select_rows(rows, data=data, method="lscae")
    ]
    titles = [
        "LS-CAE by the way of clustering: best mean accuracy in percent, and its k",
        "Mean rank by the way of clustering, on the paper's sets on which all of these methods were run",
    ]
    ranks = [[label, *ranked[0][1:]] for way, label in WAYS.items() if (ranked := _rank_lines(rows, way))]
    return [
        Table("table-results-ways", titles[0], ["data set", *WAYS.values(), "printed"], ours),
        Table("table-results-ranks", titles[1], ["features", *METHODS], ranks),
    ]


def _printed_text(data: str, label: str) -> str:
    return _text(printed()["results"][printed_name(data)][label])


def _text(value: tuple[float, int] | list[float] | None) -> str:
    return f"{value[0]:.1f} ({value[1]:.0f})" if value else "–"


def _rank_lines(rows: Rows, start: str) -> list[list[str]]:
    """Return mean and median ranks among the methods that were run, on the paper's sets on which all of them were."""
    done = [label for label, method in METHODS.items() if method in values_of(rows, "method")]
    sets = [data for data in data_in_order(rows) if printed_name(data) in printed()["results"]]
    found = {data: [best(rows, data, METHODS[label], start) for label in done] for data in sets}
    full = {data: [one[0] for one in values if one] for data, values in found.items() if all(values)}
    if not full or len(done) < 2:
        return []
    theirs = [[printed()["results"][printed_name(data)][label][0] for label in done] for data in full]
    ours_by, theirs_by = (mean_and_median_ranks(table) for table in (list(full.values()), theirs))
    lines = []
    for number, kind in enumerate(("mean", "median")):
        pairs = dict(zip(done, zip(ours_by[number], theirs_by[number], strict=True), strict=True))
        cells = [f"{pairs[m][0]:.2f} / {pairs[m][1]:.2f}" if m in pairs else "–" for m in METHODS]
        lines.append([f"{kind} rank of {len(done)} on {len(full)} sets", *cells])
    return lines + _printed_rank_lines()


def _printed_rank_lines() -> list[list[str]]:
    """Return the ranks as the paper prints them, and as its accuracies make them."""
    computed = mean_and_median_ranks([[row[label][0] for label in METHODS] for row in printed()["results"].values()])
    lines = []
    for kind, ranks in zip(("mean", "median"), computed, strict=True):
        lines.append([f"{kind} rank as printed", *(f"– / {printed()[f'{kind}_rank'][label]:g}" for label in METHODS)])
        lines.append([f"{kind} rank of the printed accuracies", *(f"– / {rank:.2f}" for rank in ranks)])
    return lines


def _without_labels(rows: Rows) -> Table:
    """Make the table at one k for all data sets, chosen beforehand."""
    k = FIXED if FIXED in values_of(rows, "k") else max(values_of(rows, "k"))
    done = [*[m for m in METHODS.values() if m in values_of(rows, "method")]]
    done += [name for name in values_of(rows, "method") if name not in done]
    lines = [
        [described_name(data), *(_mean_sd(accuracies(rows, data, method).get(k, [])) for method in done)]
        for data in data_in_order(rows)
    ]
    title = (
        f"No label chooses anything: accuracy in percent at k = {k}, mean ± standard deviation over seeds, k-means++"
    )
    return Table("table-results-fixed-k", title, ["data set", *done], lines)


def _mean_sd(values: list[float]) -> str:
    if not values:
        return "–"
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else f"{values[0]:.1f}"


def verdict(rows: Rows) -> str:
    """Say how far our accuracies are from the printed ones, method by method, and who is best."""
    gaps = {
        label: [
            found[0] - printed()["results"][printed_name(data)][label][0]
            for data in data_in_order(rows)
            if printed_name(data) in printed()["results"] and (found := best(rows, data, method))
        ]
        for label, method in METHODS.items()
    }
    gaps = {label: values for label, values in gaps.items() if values}
    if not gaps:
        return "None of the paper's sets is among these rows, so there is nothing to compare."
    listed = ", ".join(f"{label} {np.mean(values):+.1f} ({len(values)} sets)" for label, values in gaps.items())
    largest = max(gaps, key=lambda label: float(np.mean(np.abs(gaps[label]))))
    text = (
        f"Mean difference to the printed accuracy, in points, with k-means++ and k chosen as in the paper: {listed}. "
        f"The methods differ most from print for {largest}, by {np.mean(np.abs(gaps[largest])):.1f} points in the mean "
        "of absolute values; other defaults, another scaling or another start of k-means may be behind that, and the "
        "paper does not give them."
    )
    return f"{text} {_winner(rows)} {_against_print(rows)}".strip()


def _against_print(rows: Rows) -> str:
    """Say on how many sets LS-CAE is at or above print, for every way of clustering, and where in none of them."""
    sets = [data for data in data_in_order(rows) if printed_name(data) in printed()["results"]]
    theirs = {data: printed()["results"][printed_name(data)]["LS-CAE"][0] for data in sets}
    ours = {way: {data: one[0] for data in sets if (one := best(rows, data, "lscae", way))} for way in WAYS}
    reached = {way: {data for data, value in found.items() if value >= theirs[data]} for way, found in ours.items()}
    done = {data for found in ours.values() for data in found}
    if not done:
        return ""
    counts = ", ".join(f"{len(reached[way])} ({WAYS[way]})" for way in WAYS if ours[way])
    ever = {data for some in reached.values() for data in some}
    never = [described_name(data) for data in sets if data in done and data not in ever]
    return f"LS-CAE is at or above its printed accuracy on so many of {len(done)} sets: {counts}" + (
        f"; on {', '.join(never)} in no way of clustering." if never else "."
    )


def _winner(rows: Rows) -> str:
    """Say on how many sets LS-CAE is best of the paper's methods, and by ranks."""
    if "lscae" not in values_of(rows, "method"):
        return "LS-CAE and CAE have not been run yet."
    done = [method for method in METHODS.values() if method in values_of(rows, "method")]
    found = {data: {m: one[0] for m in done if (one := best(rows, data, m))} for data in data_in_order(rows)}
    full = {data: scores for data, scores in found.items() if len(scores) == len(done)}
    won = [data for data, scores in full.items() if max(scores, key=lambda m: scores[m]) == "lscae"]
    lost = [described_name(data) for data in full if data not in won]
    return (
        f"LS-CAE is best of these {len(done)} methods on {len(won)} of the {len(full)} sets at hand (in the paper's "
        f"numbers on {_printed_wins()} of {len(printed()['results'])})"
        + (f", and loses on {', '.join(lost)}." if lost else ".")
    )


def _printed_wins() -> int:
    """Count the sets on which the printed accuracy of LS-CAE is the highest."""
    return sum(max(row, key=lambda label: row[label][0]) == "LS-CAE" for row in printed()["results"].values())
