"""One run of ``evaluate``: a list of features against random lists of the same size."""

import csv
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.cli import fitting, output, results
from tamis.cli.options import Reading, UsageError, split
from tamis.cli.progress import Bar, Interruption
from tamis.cli.whole_features import original_names
from tamis.metrics import Sample, dense_sample, random_columns, score_columns, stability

if TYPE_CHECKING:
    from tamis.io.readers import Table

LESS_IS_BETTER = ("redundancy",)


def listed_features(entry: str) -> tuple[tuple[str, ...], Any]:
    """Read a list of features: a saved selector, a file with one a line or a column "feature", or ``a,b,c``.

    Returns
    -------
    names : tuple of str
        The features.
    selector : FeatureSelector or None
        The saved selector, if it was one.
    """
    path = Path(entry)
    if not path.is_file():
        if path.suffix in (".tamis", ".txt", ".csv"):
            raise UsageError(f"{entry}: there is no such file.")
        return split([entry]), None
    if path.suffix != ".tamis":
        return _from_text(path), None
    import tamis

    selector = tamis.load(path)
    names = saved_names(selector)
    return tuple(names[place] for place in selector.selected_), selector


def saved_names(selector: Any) -> tuple[str, ...]:
    """Return the names of a saved selector's features; those of nameless data are numbered as the readers do."""
    names = getattr(selector, "feature_names_in_", None)
    if names is None:
        names = [f"feature_{i}" for i in range(selector.n_features_in_)]
    return tuple(str(name) for name in names)


def _from_text(path: Path) -> tuple[str, ...]:
    try:
        lines = [row for row in csv.reader(path.read_text(encoding="utf-8-sig").splitlines()) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: is not a list of features, one a line ({error}).") from error
    if lines and "feature" in lines[0]:
        place = lines[0].index("feature")
        names = [results.unguarded(row[place]) for row in lines[1:] if len(row) > place]
    else:
        names = [row[0] for row in lines]
    if not names:
        raise UsageError(f"{path}: lists no features.")
    return tuple(dict.fromkeys(names))


@dataclass
class Evaluation:
    """One run of ``evaluate``: what was asked for, and, once it is done, what came out."""

    file: Path
    features: str
    seed: int
    folder: Path | None
    reading: Reading
    force: bool

    def run(self, bar: Bar, n_random: int, n_resamples: int, refits: int) -> None:
        """Read, score and write."""
        names, selector = listed_features(self.features)
        if refits and selector is None:
            raise UsageError("--refits needs a saved selector (-f selector.tamis), whose method is fitted anew.")
        with results.output_folder(self.folder) if self.folder else nullcontext():
            if self.folder:
                paths = [self.folder / name for name in results.NAMES]
                results.check_outputs(paths, [self.file, Path(self.features)], self.force)
            self.table = fitting.read_for_scores(self.file, self.reading, bar)
            self._score(self._columns(names), bar, n_random, n_resamples)
            overlap = _overlap_of_refits(self.table, selector, refits, bar, self.seed) if refits else None
            self.document = self._document(overlap)
            if self.folder:
                self._write(self.folder)

    def _columns(self, names: tuple[str, ...]) -> Any:
        """Return the encoded features of the list; ``colour=red`` of a saved selector stands for ``colour``."""
        from tamis.io.readers.roles import originals_of

        columns = self.table.positions(originals_of(names, self.table.original_names), "--features")
        self.names = original_names(self.table, columns)
        return columns

    def _score(self, columns: Any, bar: Bar, n_random: int, n_resamples: int) -> None:
        """Score the list and random ones, and both on halves of the samples."""
        bar.stage("Scoring")
        sample = dense_sample(self.table.X, random_state=self.seed)
        self.scores = self._scores(sample, columns)
        lists = random_columns(sample, len(columns), n_random, self.seed)
        self.random = []
        for done, drawn in enumerate(lists, start=1):
            self.random.append(self._scores(sample, drawn))
            bar.move(done, n_random + n_resamples)
        halves = list(_halves(sample, n_resamples, self.seed))
        self.halves = [self._scores(half, columns) for half in halves]
        others = [self._scores(half, lists[i % len(lists)])["explained"] for i, half in enumerate(halves)]
        wins = [half["explained"] > other for half, other in zip(self.halves, others, strict=True)]
        self.wins = float(np.mean(wins))

    def _scores(self, sample: Sample, columns: Any) -> dict[str, float]:
        return score_columns(sample, columns, self.table.y, random_state=self.seed)

    def _document(self, overlap: float | None) -> dict[str, Any]:
        def summary(values: list[float]) -> dict[str, float]:
            return {"mean": float(np.mean(values)), "min": min(values), "max": max(values), "lists": len(values)}

        return results.document_of(
            "evaluate",
            self.file,
            self.table,
            features=self.names,
            seed=self.seed,
            scores=self.scores,
            spread_over_resamples={name: float(np.std([half[name] for half in self.halves])) for name in self.scores},
            random_lists={name: summary([scores[name] for scores in self.random]) for name in self.scores},
            stability={"resamples_better_than_random": self.wins, "overlap_of_refits": overlap},
        )

    def _write(self, folder: Path) -> None:
        """Write the list, its scores with those of every random list, and everything as JSON."""
        from tamis.io.files import recording
        from tamis.report import Entry

        named = [("list", self.names, self.scores)]
        named += [(f"random list {number}", [], scores) for number, scores in enumerate(self.random, start=1)]
        k, seed = len(self.names), self.seed
        entries = [Entry(name, name, k, seed, list(chosen), scores, {}, None) for name, chosen, scores in named]
        with recording():
            results.write_lists(folder, entries)
            results.write_result(folder, self.document)

    def show(self) -> None:
        """Print the result."""
        output.print_read(self.table)
        headings = ["score", "list", "over halves", "random lists (range)", "better than"]
        rows = [self._row(name, value) for name, value in self.scores.items()]
        output.print_table(f"{len(self.names)} features of {self.file.name}", headings, rows, numbers=(1,))
        output.say(
            f"Stability: on {100 * self.wins:.0f}% of halves of the samples, the list explains more than a random one."
        )
        overlap = self.document["stability"]["overlap_of_refits"]
        if overlap is not None:
            output.say(f"Refits on halves overlap by {overlap:.2f} (1: the same features, 0: as by chance).")
        if self.folder:
            output.say(f"Results: {self.folder}", fold=False)

    def _row(self, name: str, value: float) -> list[str]:
        others = np.array([scores[name] for scores in self.random])
        better = int((value < others if name in LESS_IS_BETTER else value > others).sum())
        spread = f"± {self.document['spread_over_resamples'][name]:.3f}"
        usual = f"{others.mean():.3f} ({others.min():.3f} to {others.max():.3f})"
        return [name, f"{value:.3f}", spread, usual, f"{better} of {len(others)}"]


def _halves(sample: Sample, n_resamples: int, seed: int) -> Sequence[Sample]:
    rng = np.random.default_rng(seed)
    size = max(3, len(sample.Z) // 2)
    drawn = [np.sort(rng.permutation(len(sample.Z))[:size]) for _ in range(n_resamples)]
    return [Sample(sample.Z[rows], sample.rows[rows]) for rows in drawn]


def _overlap_of_refits(table: "Table", selector: Any, refits: int, bar: Bar, seed: int) -> float:
    """Fit the saved selector's method anew on halves of the samples, and compare what is chosen."""
    from dataclasses import replace

    from sklearn.base import clone

    rng = np.random.default_rng(seed)
    size = len(original_names(table, selector.selected_))
    chosen = []
    for number in range(1, refits + 1):
        rows = np.sort(rng.permutation(table.shape[0])[: max(3, table.shape[0] // 2)])
        half = replace(table, X=table.X[rows], y=None, sample_names=None)
        fitted = fitting.fit(clone(selector), half, bar, Interruption(), size, f"Refit {number} of {refits}")
        chosen.append(fitted.selected_)
    return stability(chosen, table.shape[1])
