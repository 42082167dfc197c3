"""Ablation on noisy MNIST: accuracy of k-means on the pixels that each method selects."""

from itertools import product

import numpy as np

from tamis.metrics import kmeans_accuracies
from tamis.paper.experiment import Experiment, Rows, Table, select_rows, values_of
from tamis.paper.experiments import mnist_figures as pictures
from tamis.paper.fits import fit
from tamis.paper.ledger import Row, Trial
from tamis.paper.noisy_digits import noisy_digits
from tamis.paper.style import METHOD_LABELS

METHODS = ("lscae", "cae", "concrete-laplacian", "random")
SIZES = (5, 10, 15, 20, 25)
RUNS = 5
"""Runs of k-means on one selection; the paper does not say how many it made."""


def trials(quick: bool) -> list[Trial]:
    """Give three repetitions of every method and size, one on images without noise, and the images to show."""
    sizes, seeds, mark = ((5, 15), 1, {"quick": True}) if quick else (SIZES, 3, {})
    noisy, clean = product(("fit",), range(seeds), sizes, METHODS), product(("clean",), (0,), sizes, METHODS)
    fits = [
        {"kind": kind, "method": method, "k": k, "seed": seed, **mark} for kind, seed, k, method in (*noisy, *clean)
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
    titles = {
        "fit": "Accuracy on the test images in percent: mean ± standard deviation over repetitions",
        "clean": "The same on images without noise, one repetition",
    }
    return [_table(fits, kind, title) for kind, title in titles.items() if (fits := select_rows(rows, kind=kind))]


def _table(fits: Rows, kind: str, title: str) -> Table:
    sizes = values_of(fits, "k")
    lines = [
        [METHOD_LABELS[method], *(pictures.mean_and_sd(fits, method, k) for k in sizes)]
        for method in METHODS
        if method in values_of(fits, "method")
    ]
    name = "ablation-mnist" + ("" if kind == "fit" else f"-{kind}")
    return Table(name, title, ["method", *(f"k = {k}" for k in sizes)], lines)


def verdict(rows: Rows) -> str:
    """Say where LS-CAE is best, as the paper claims for all sizes."""
    fits = select_rows(rows, kind="fit")
    done = [method for method in METHODS if method in values_of(fits, "method")]
    if "lscae" not in done or len(done) < 2:
        return "LS-CAE and the others have not all been run yet, so there is nothing to compare."
    sizes = values_of(fits, "k")
    means = {method: [pictures.mean_accuracy(fits, method, k) for k in sizes] for method in done}
    best = [k for i, k in enumerate(sizes) if all(means["lscae"][i] > means[m][i] for m in done if m != "lscae")]
    overall = ", ".join(f"{METHOD_LABELS[m]} {100 * float(np.nanmean(values)):.1f} %" for m, values in means.items())
    where = f"k = {', '.join(map(str, best))}" if best else "no size"
    agreement = "agrees with" if len(best) == len(sizes) else "does not fully agree with"
    return (
        f"LS-CAE has the highest mean accuracy at {where}, of {len(sizes)} sizes, which {agreement} the paper's "
        f"statement that it is best throughout. Means over all sizes: {overall}; the paper shows a curve without "
        "numbers."
    )


EXPERIMENT = Experiment(
    id="ablation-mnist",
    title="Ablation on noisy MNIST",
    question=(
        "One pattern of uniform noise is added to all images, each pixel switched on with probability 0.2, and pixels "
        "are clipped to 0…255 (the paper prints minimum and maximum the other way round). k-means is fitted on the "
        "selected pixels of the 60,000 training images and scored on the 10,000 test images; three repetitions, each "
        "with its own pattern, and a random choice of pixels beside them."
    ),
    trials=trials,
    work=work,
    verdict=verdict,
    draw=pictures.draw,
    tables=tables,
)
