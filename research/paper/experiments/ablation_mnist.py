"""Ablation on noisy MNIST: accuracy of k-means on the pixels that each method selects."""

from itertools import product

import numpy as np

from research.ledger import Row, Trial
from research.pages import Rows, Table, select_rows
from research.paper.experiment import Experiment, values_of
from research.paper.experiments import mnist_figures as pictures
from research.paper.fits import fit
from research.paper.noisy_digits import noisy_digits
from research.style import METHOD_LABELS
from tamis.metrics import kmeans_accuracies

METHODS = ("lscae", "cae", "concrete-laplacian", "random")
SIZES = (5, 10, 15, 20, 25)
REPETITIONS = {"lscae": 20, "cae": 20, "concrete-laplacian": 3, "random": 20}
"""The paper made three; means of three differ by more than these methods do, but for one that is far below them."""

IN_THE_PAPER = 3
RUNS = 20
"""Runs of k-means on one selection, as in the other experiments; the paper does not say how many it made here."""


def trials(quick: bool) -> list[Trial]:
    """Return the repetitions of every method and size, some on images without noise, and the images to show."""
    sizes, mark = ((5, 15), {"quick": True}) if quick else (SIZES, {})
    fits = [
        {"kind": kind, "method": method, "k": k, "seed": seed, **mark}
        for kind, most in (("fit", max(REPETITIONS.values())), ("clean", IN_THE_PAPER))
        for seed, k, method in product(range(1 if quick else most), sizes, METHODS)
        if seed < REPETITIONS[method]
    ]
    return [{"kind": "examples", "seed": 0, **mark}, *fits]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Select on the noisy training images, cluster them on these pixels, and score the test images."""
    quick = trial.get("quick", False)
    digits = noisy_digits(trial["seed"], quick, clean=trial["kind"] == "clean")
    if trial["kind"] == "examples":
        images = (255 * digits.X[:3]).round().astype(np.uint8)
        return {"side": digits.side, "images": [image.tobytes().hex() for image in images]}
    selector, found = fit(trial["method"], digits.X, trial["k"], trial["seed"], quick=quick)
    chosen = selector.support_
    accuracies = kmeans_accuracies(
        digits.X[:, chosen], digits.labels, n_runs=2 if quick else RUNS, random_state=0,
        X_test=digits.X_test[:, chosen], labels_test=digits.labels_test,
    )  # fmt: skip
    scores = {"accuracy": round(float(accuracies.mean()), 5), "accuracy_sd": round(float(accuracies.std(ddof=1)), 5)}
    return {**found, "side": digits.side, **scores}


def tables(rows: Rows) -> list[Table]:
    """List mean accuracies and their standard deviations over the repetitions."""
    noisy, clean = select_rows(rows, kind="fit"), select_rows(rows, kind="clean")
    parts = [
        ("", "Accuracy on the test images in percent: mean ± standard deviation over repetitions", noisy),
        ("-first", f"The first {IN_THE_PAPER} repetitions alone, as many as the paper made", _first(noisy)),
        ("-clean", "The same on images without noise; repetitions differ in the seed of the fit alone", clean),
    ]
    return [_table(fits, "ablation-mnist" + suffix, title) for suffix, title, fits in parts if fits]


def _first(fits: Rows) -> Rows:
    return [row for row in fits if row["trial"]["seed"] < IN_THE_PAPER]


def _table(fits: Rows, name: str, title: str) -> Table:
    sizes = values_of(fits, "k")
    lines = [
        [_named_with_repetitions(fits, method), *(pictures.mean_and_sd(fits, method, k) for k in sizes)]
        for method in METHODS
        if method in values_of(fits, "method")
    ]
    return Table(name, title, ["method (repetitions)", *(f"k = {k}" for k in sizes)], lines)


def _named_with_repetitions(fits: Rows, method: str) -> str:
    return f"{METHOD_LABELS[method]} ({len(values_of(select_rows(fits, method=method), 'seed'))})"


def verdict(rows: Rows) -> str:
    """Say where LS-CAE is best, as the paper claims for all sizes."""
    fits = select_rows(rows, kind="fit")
    done = [method for method in METHODS if method in values_of(fits, "method")]
    if "lscae" not in done or len(done) < 2:
        return "LS-CAE and the others have not all been run yet, so there is nothing to compare."
    sizes = values_of(fits, "k")
    overall = ", ".join(
        f"{METHOD_LABELS[m]} {100 * float(np.nanmean([pictures.mean_accuracy(fits, m, k) for k in sizes])):.1f} %"
        for m in done
    )
    best = _best_at(fits, done)
    agreement = "agrees with" if len(best) == len(sizes) else "does not fully agree with"
    return (
        f"LS-CAE has the highest mean accuracy at {_named(best)}, of {len(sizes)} sizes, which {agreement} the paper's "
        f"statement that it is best throughout; with the first {IN_THE_PAPER} repetitions alone, at "
        f"{_named(_best_at(_first(fits), done))}. Means over all sizes: {overall}; the paper shows a curve without "
        "numbers."
    )


def _best_at(fits: Rows, methods: list[str]) -> list[int]:
    """Return the sizes at which LS-CAE has the highest mean of some methods."""
    others = [method for method in methods if method != "lscae"]
    mean = pictures.mean_accuracy
    return [k for k in values_of(fits, "k") if all(mean(fits, "lscae", k) > mean(fits, other, k) for other in others)]


def _named(sizes: list[int]) -> str:
    return f"k = {', '.join(map(str, sizes))}" if sizes else "no size"


EXPERIMENT = Experiment(
    id="ablation-mnist",
    title="Ablation on noisy MNIST",
    question=(
        "One pattern of uniform noise is added to all images, each pixel switched on with probability 0.2, and pixels "
        "are clipped to 0…255 (the paper prints minimum and maximum the other way round). k-means is fitted on the "
        "selected pixels of the 60,000 training images and scored on the 10,000 test images; repetitions, each "
        "with its own pattern, and a random choice of pixels beside them."
    ),
    trials=trials,
    work=work,
    verdict=verdict,
    draw=pictures.draw,
    tables=tables,
)
